-- Adds numbers that an instance has counted to those of the fleet.
-- KEYS  1 hash: sums by their place, from 1
-- ARGV  1 milliseconds until it is forgotten; 2… the numbers
-- Returns the sums. Redis adds 64-bit integers; none gets near 2^53, where Lua would round.

local sums = {}
for i = 2, #ARGV do
  sums[i - 1] = redis.call('HINCRBY', KEYS[1], i - 1, ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return sums
