-- Says that an instance is alive, counts those that are, and reads the switch.
-- KEYS  1 instances of a region: sorted set of id by the time of its last beat; 2 the switch: lines of mode, actor, reason; or off;
--       3 revision of the policy store that this instance has read; 4 off, until the end of a longer switch that was replaced
-- ARGV  1 id of the instance; 2 milliseconds of silence after which one is gone; 3 milliseconds for a switch without an end; 4 the revision
-- Returns the live instances; 1 if this one was among them before, otherwise 0; and while there is a switch, on or off, the
-- milliseconds it has left and its text. Times are whole milliseconds since 1970 and need 41 bits.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local instances, switch, silence = KEYS[1], KEYS[2], tonumber(ARGV[2])

local before = tonumber(redis.call('ZSCORE', instances, ARGV[1]) or '')
local known = before and before > now - silence and before <= now

redis.call('ZADD', instances, now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', instances, '-inf', now - silence)
-- Written before the clock was set back: whoever is alive comes again, and the others would stay until it has caught up.
redis.call('ZREMRANGEBYSCORE', instances, now + silence, '+inf')
redis.call('PEXPIRE', instances, 2 * silence)
redis.call('SET', KEYS[3], ARGV[4], 'PX', silence)

local reply = { redis.call('ZCARD', instances), known and 1 or 0 }
local found = redis.call('MGET', switch, KEYS[4])
local text = found[1] or found[2]
if text then
  local left = redis.call('PTTL', found[1] and switch or KEYS[4])
  if left < 0 then
    -- Set by hand without an end. It gets one, because a switch that never ends is one that was forgotten.
    left = tonumber(ARGV[3])
    redis.call('PEXPIRE', switch, left)
  end
  reply[3], reply[4] = left, text
end
return reply
