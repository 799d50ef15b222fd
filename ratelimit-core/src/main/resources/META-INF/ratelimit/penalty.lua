-- Adds offences of callers, judges refusals against the runs of the fleet, and begins cool-downs and bans.
-- KEYS  one for each caller: six integers: first refusal and end of its run, offences, last offence, end of the cool-down,
--       end of the ban
-- ARGV  1 channel of signals; then for each caller: 1 offences; 2 time since the last of them; 3 refusals that were no
--       offence for the instance; 4 time of the first of these; 5 end of the wait that was announced; 6 offences per
--       cool-down; 7 first cool-down; 8 longest cool-down; 9 offences until a ban, 0 for none; 10 length of a ban;
--       11 key of the counter, policy and limit
-- Returns for each caller, in one list: offences, time since the last, rest of the cool-down, rest of the ban, and 1 if a
-- cool-down has begun, 2 for a ban, otherwise 0.
-- Times are whole microseconds since 1970 and need 51 bits, offences are at most 10^15.

local GRACE = 250000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local reply = {}

local function read(key)
  -- MGET finds nothing in a key of another type, and SET replaces it.
  local text = redis.call('MGET', key)[1] or ''
  local first, last, offences, offended, cooling, banned = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  return tonumber(first) or 0, tonumber(last) or 0, tonumber(offences) or 0, tonumber(offended) or 0,
    tonumber(cooling) or 0, tonumber(banned) or 0
end

for i = 1, #KEYS do
  local at = 11 * (i - 1) + 1
  local function argument(n)
    return tonumber(ARGV[at + n])
  end
  local after, longest, most = argument(6), argument(8), argument(9)
  local first, last, offences, offended, cooling, banned = read(KEYS[i])
  local began = 0
  if offences > 0 and now - offended >= longest then
    offences = 0
  end
  if banned <= now then
    local more, count, refused, told = argument(1), argument(3), argument(4), argument(5)
    local when = now - argument(2)
    if count > 0 then
      if refused < first or refused >= last then
        first, last = refused, told
      else
        if refused - first >= GRACE then
          more = more + count
          when = now
        end
        last = math.max(last, told)
      end
    end
    if more > 0 then
      local before = offences
      offences = math.min(offences + more, 1000000000000000)
      offended = math.max(offended, when)
      local level = math.floor(offences / after)
      if most > 0 and offences >= most then
        banned, offences, cooling, began = when + argument(10), 0, 0, 2
      elseif level > math.floor(before / after) then
        cooling = math.max(cooling, when + math.min(longest, argument(7) * 2 ^ math.min(level - 1, 60)))
        began = 1
      end
    end
    if more > 0 or count > 0 then
      local matters = math.max(last, cooling, banned, (offences > 0) and offended + longest or 0)
      redis.call('SET', KEYS[i], string.format('%.0f %.0f %.0f %.0f %.0f %.0f', first, last, offences, offended, cooling,
        banned), 'PX', math.max(1000, math.ceil((matters - now) / 1000)))
    end
  end
  local left = math.max(0, cooling - now)
  if began == 1 and left > 0 then
    redis.call('PUBLISH', ARGV[1], string.format('cool-down %.0f ', math.ceil(left / 1000)) .. ARGV[at + 11])
  end
  reply[#reply + 1] = offences
  reply[#reply + 1] = (offences > 0) and math.max(0, now - offended) or 0
  reply[#reply + 1] = left
  reply[#reply + 1] = math.max(0, banned - now)
  reply[#reply + 1] = began
end
return reply
