-- Writes a ban to the list of the fleet or removes it, and tells the fleet. A ban is not written if it was removed after the
-- revision that the instance knew: an instance that is slow must not undo a lift.
-- KEYS  1 bans: sorted set of the counter's key, policy and limit by the time it ends; 2 revision: sorted set of the revision,
--       and of the time until which there may be bans that the list had no room for; 3 lifted: sorted set like 1, by the revision at which the ban was removed
-- ARGV  1 channel of signals; 2 key of the counter, policy and limit; 3 milliseconds it is to hold, 0 to remove it; 4 how
--       many bans there can be; 5 milliseconds to keep the list after the last write; 6 revision that the instance knew
-- Returns 1, 0 if there are too many, or 2 if it was removed since; and the revision. Times are whole milliseconds since 1970
-- and need 41 bits.

-- An instance lists a ban within seconds of its verdict.
local LIFTED_LIVES, MOST_LIFTED = 60000, 1000
local SLACK = 10000

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bans, revision, lifted, text, left = KEYS[1], KEYS[2], KEYS[3], ARGV[2], tonumber(ARGV[3])
local number = tonumber(redis.call('ZSCORE', revision, 'revision') or 0)

redis.call('ZREMRANGEBYSCORE', bans, '-inf', now)
if left > 0 then
  if tonumber(redis.call('ZSCORE', lifted, text) or -1) > tonumber(ARGV[6]) then
    return { 2, number }
  end
  if redis.call('ZCARD', bans) >= tonumber(ARGV[4]) and not redis.call('ZSCORE', bans, text) then
    -- Ten seconds longer than the ban, so that many bans in a row are announced once in ten seconds.
    if tonumber(redis.call('ZSCORE', revision, 'unlisted') or 0) < now + left then
      redis.call('ZADD', revision, now + left + SLACK, 'unlisted')
      number = tonumber(redis.call('ZINCRBY', revision, 1, 'revision'))
      redis.call('PEXPIRE', revision, ARGV[5])
      redis.call('PUBLISH', ARGV[1], string.format('ban %.0f %.0f *', number, left + SLACK))
    end
    return { 0, number }
  end
  redis.call('ZADD', bans, now + left, text)
else
  redis.call('ZREM', bans, text)
  redis.call('ZADD', lifted, number + 1, text)
  for _, oldest in ipairs(redis.call('ZREVRANGE', lifted, MOST_LIFTED, -1)) do
    redis.call('ZREM', lifted, oldest)
  end
  redis.call('PEXPIRE', lifted, LIFTED_LIVES)
end
number = tonumber(redis.call('ZINCRBY', revision, 1, 'revision'))
redis.call('PEXPIRE', bans, ARGV[5])
redis.call('PEXPIRE', revision, ARGV[5])
redis.call('PUBLISH', ARGV[1], string.format('ban %.0f %.0f ', number, left) .. text)
return { 1, number }
