-- Writes a ban to the list of the fleet or removes it, and tells the fleet.
-- KEYS  1 bans: sorted set of the counter's key, policy and limit by the time it ends; 2 revision: sorted set of one member
-- ARGV  1 channel of signals; 2 key of the counter, policy and limit; 3 milliseconds it is to hold, 0 to remove it; 4 how
--       many bans there can be; 5 milliseconds to keep the list after the last write
-- Returns 1, or 0 if there are too many. Times are whole milliseconds since 1970 and need 41 bits.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bans, revision, text, left = KEYS[1], KEYS[2], ARGV[2], tonumber(ARGV[3])

redis.call('ZREMRANGEBYSCORE', bans, '-inf', now)
if left > 0 then
  if redis.call('ZCARD', bans) >= tonumber(ARGV[4]) and not redis.call('ZSCORE', bans, text) then
    return { 0 }
  end
  redis.call('ZADD', bans, now + left, text)
else
  redis.call('ZREM', bans, text)
end
local number = redis.call('ZINCRBY', revision, 1, 'revision')
redis.call('PEXPIRE', bans, ARGV[5])
redis.call('PEXPIRE', revision, ARGV[5])
redis.call('PUBLISH', ARGV[1], string.format('ban %.0f %.0f ', tonumber(number), left) .. text)
return { 1 }
