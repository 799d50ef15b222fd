-- Adds an entry to the audit trail if it follows the newest one, at a time that no other entry has, so that it can be
-- read on from there. Uses no other commands on the trail than XADD and XREVRANGE, so that a user can be limited to them.
-- KEYS  1 trail: stream; the first part of an id is the time in microseconds
--       2 chain: hash with the number and the hash of the newest entry
-- ARGV  1 hash that the entry follows, '' for none; 2 its own hash; 3 its number
--       4 id of the oldest entry that stays, '' to remove none; then names and values of the entry in turn
-- Returns 1 if it was added, otherwise 0, and number and hash of the newest entry. Microseconds since 1970 need 51 bits.

local newest = redis.call('HMGET', KEYS[2], 'number', 'hash')
if (newest[2] or '') ~= ARGV[1] then
  return { 0, tonumber(newest[1] or 0), newest[2] or '' }
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  now = math.max(now, tonumber(string.match(last[1], '^%d+')) + 1)
end
local add = { 'XADD', KEYS[1] }
if ARGV[4] ~= '' then
  add = { 'XADD', KEYS[1], 'MINID', '=', ARGV[4] }
end
table.insert(add, string.format('%.0f-0', now))
for i = 5, #ARGV do
  table.insert(add, ARGV[i])
end
redis.call(unpack(add))
redis.call('HSET', KEYS[2], 'number', ARGV[3], 'hash', ARGV[2])
return { 1, tonumber(ARGV[3]), ARGV[2] }
