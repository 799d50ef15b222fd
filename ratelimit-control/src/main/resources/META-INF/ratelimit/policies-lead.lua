-- Makes an instance the one that does a task, if no other one is.
-- KEYS  1 task: name of the instance, with an expiry
-- ARGV  1 instance; 2 milliseconds it is to hold
-- Returns 1 and the time in milliseconds if it is the one, 0 if another one is. Milliseconds since 1970 need 41 bits.

local leader = redis.call('GET', KEYS[1])
if leader and leader ~= ARGV[1] then
  return { 0 }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local time = redis.call('TIME')
return { 1, time[1] * 1000 + math.floor(time[2] / 1000) }
