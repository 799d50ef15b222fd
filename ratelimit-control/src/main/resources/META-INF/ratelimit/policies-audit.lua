-- Adds an entry to the audit trail, at a time that no other entry has, so that it can be read on from there.
-- KEYS  1 trail: stream; the first part of an id is the time in microseconds
-- ARGV  names and values of the entry in turn
-- Returns the time. Microseconds since 1970 need 51 bits.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  now = math.max(now, tonumber(string.match(last[1], '^%d+')) + 1)
end
redis.call('XADD', KEYS[1], string.format('%.0f-0', now), unpack(ARGV))
return { now }
