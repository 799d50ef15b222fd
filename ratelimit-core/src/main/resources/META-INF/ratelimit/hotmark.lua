-- Marks a counter as hot.
-- KEYS  1 marks: hash of key to the time it ends, on a line, and its text
-- ARGV  1 key of the counter; 2 milliseconds it is to hold; 3 text; 4 how many marks there can be
-- Returns 1, or 0 if there are too many. Times are whole milliseconds since 1970 and need 41 bits.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local marks, key, left = KEYS[1], ARGV[1], tonumber(ARGV[2])

if redis.call('HEXISTS', marks, key) == 0 and redis.call('HLEN', marks) >= tonumber(ARGV[4]) then
  return { 0 }
end
redis.call('HSET', marks, key, string.format('%.0f', now + left) .. '\n' .. ARGV[3])
redis.call('PEXPIRE', marks, math.max(redis.call('PTTL', marks), left))
return { 1 }
