-- Reads a part of the fleet's list of bans.
-- KEYS  1 bans: sorted set of the counter's key, policy and limit by the time it ends; 2 revision: see ban.lua
-- ARGV  1 and 2 first and last place, longest ban first, from 0
-- Returns the revision, for how many milliseconds there may be bans that the list had no room for, and milliseconds left and
-- text of each ban, in one list. Times are whole milliseconds since 1970
-- and need 41 bits.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reply = { tonumber(redis.call('ZSCORE', KEYS[2], 'revision') or 0),
  math.max(0, tonumber(redis.call('ZSCORE', KEYS[2], 'unlisted') or 0) - now) }
local found = redis.call('ZREVRANGE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES')
for i = 1, #found, 2 do
  reply[#reply + 1] = math.max(0, tonumber(found[i + 1]) - now)
  reply[#reply + 1] = found[i]
end
return reply
