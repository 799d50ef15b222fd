-- Adds refusals to the history, and takes away what is too old or too many.
-- KEYS  1 history: stream; an id is the time of arrival, a field t the time of the refusal and r its text
-- ARGV  1 how many to keep; 2 milliseconds to keep them; then in turn the milliseconds since a refusal and its text
-- Returns nothing. Times are whole milliseconds since 1970 on Redis's clock and need 41 bits.

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

for i = 3, #ARGV, 2 do
  redis.call('XADD', KEYS[1], '*', 't', string.format('%.0f', now - tonumber(ARGV[i])), 'r', ARGV[i + 1])
end
redis.call('XTRIM', KEYS[1], 'MAXLEN', '=', ARGV[1])
redis.call('XTRIM', KEYS[1], 'MINID', '=', string.format('%.0f', math.max(0, now - tonumber(ARGV[2]))))
-- The log expires when there are no new refusals.
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {}
