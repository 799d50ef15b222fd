-- One GCRA check of one quota, as short as it can be written.
-- KEYS[1]  the counter: its theoretical arrival time
-- ARGV[1]  microseconds per permit
-- ARGV[2]  microseconds of a full burst
-- Returns whether it is allowed (1 or 0) and the microseconds that are left of the burst.
-- Every number is an integer below 2^53: microseconds since 1970 need 51 bits.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local arrival = tonumber(redis.call('GET', KEYS[1]) or now)
if arrival < now then
	arrival = now
end
arrival = arrival + ARGV[1]
local left = ARGV[2] - (arrival - now)
if left < 0 then
	return { 0, 0 }
end
redis.call('SET', KEYS[1], arrival, 'PX', math.ceil((arrival - now) / 1000))
return { 1, left }
