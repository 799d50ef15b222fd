-- Adds numbers that an instance has counted to those of the fleet.
-- KEYS  1 hash: sums by their place, from 1
-- ARGV  1 milliseconds until it is forgotten; 2… the numbers
-- Returns the sums. Redis adds 64-bit integers; none gets near 2^53, where Lua would round.
-- Most numbers are 0, and reading many fields at once is cheaper than adding 0 to each.

local places = {}
for i = 2, #ARGV do
  places[i - 1] = i - 1
  -- One field is always added to: PEXPIRE needs a key.
  if i == 2 or ARGV[i] ~= '0' then
    redis.call('HINCRBY', KEYS[1], i - 1, ARGV[i])
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
local sums = redis.call('HMGET', KEYS[1], unpack(places))
for i = 1, #sums do
  sums[i] = tonumber(sums[i] or 0)
end
return sums
