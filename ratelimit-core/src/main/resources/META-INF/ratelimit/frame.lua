-- The frame: decides a list of requests in their order, each all-or-nothing over its counters, at one time.
-- Appended to the file of each algorithm but GCRA, which has a frame of its own; it defines read (a spec), load, enter (a counter
-- that is counted by a spec in this call), room, take, give_back, tell and save.
--
-- KEYS     the distinct counters of this call, at most 255, all on one slot
-- ARGV     1      microseconds since 1970 to decide at (a seam for tests), or '' for Redis's own clock
--          2      the places, at most 255, two bytes each: the number of a counter in KEYS and the number of the spec that it is
--                 counted by. A counter has as many as there are callers with different quotas, one as a rule
--          3      the requests. Of each: one byte that says how many counters it has; one that is 0 if it takes one permit, 1 if
--                 its amounts are in the next argument; and one byte for each of its counters, the number of its place
--          4      amounts: four little-endian doubles each, unit, least, most and since.
--                 since = 0: take as many multiples of unit as fit, at least `least` and at most `most`; or nothing
--                 since > 0: give `most` permits back that were taken at that time
--          4 + i  spec i, how a counter counts: the doubles of Pace.numbers (times in microseconds)
-- Returns  the time and one string. Of each request it has one byte for what was taken: 0 nothing, 1 all that was wanted,
--          3 the double that follows; 2 if a counter holds a foreign value, then nothing was done. Then, unless it is 2, the
--          state of each of its counters after a length of two bytes; from it the caller derives remaining, reset and retry
--
-- Every number is an integer below 2^53, which a double holds exactly: times since 1970 need 51 bits, and the bounds on
-- permits, burst and window keep all products below. Numbers leave as integers or through struct and %.0f, never through
-- tostring, which keeps 14 digits.

local now
if ARGV[1] == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(ARGV[1])
end

local specs = {}
for number = 5, #ARGV do
  specs[number - 4] = read(ARGV[number])
end

local counters = load(now)
local counter_of, spec_of = {}, {}
for place = 1, #ARGV[2] / 2 do
  local counter, kind = byte(ARGV[2], 2 * place - 1, 2 * place)
  counter_of[place], spec_of[place] = counters[counter], specs[kind]
  if counters[counter] then
    enter(counters[counter], specs[kind], now)
  end
end

local heads = ARGV[3]
local parts, head, amount = {}, 1, 1

while head < #heads do
  local unit, least, most, since = 1, 1, 1, 0
  local members = { byte(heads, head + 2, head + 1 + byte(heads, head)) }
  if byte(heads, head + 1) == 1 then
    unit, least, most, since, amount = unpack_struct('<dddd', ARGV[4], amount)
  end
  local sound = true
  local taken = most
  for i = 1, #members do
    local counter = counter_of[members[i]]
    if not counter then
      sound = false
    elseif since == 0 and most > 0 then
      local available = room(counter, spec_of[members[i]], now)
      if available < taken then
        taken = available
      end
    end
  end
  if sound and since > 0 then
    for i = 1, #members do
      give_back(counter_of[members[i]], spec_of[members[i]], most, since, now)
    end
  elseif sound and most > 0 then
    taken = taken - taken % unit
    if taken < least then
      taken = 0
    end
    if taken > 0 then
      for i = 1, #members do
        take(counter_of[members[i]], spec_of[members[i]], taken, now)
      end
    end
  end
  if not sound then
    parts[#parts + 1] = '\2'
  else
    parts[#parts + 1] = taken == most and '\1' or taken == 0 and '\0' or '\3' .. pack_struct('<d', taken)
    for i = 1, #members do
      local state = tell(counter_of[members[i]], spec_of[members[i]], taken < least and least or 0, now)
      parts[#parts + 1] = pack_struct('<I2', #state) .. state
    end
  end
  head = head + 2 + #members
end

for i = 1, #KEYS do
  local counter = counters[i]
  if counter and counter.changed then
    save(KEYS[i], counter, now)
  end
end
return { now, table.concat(parts) }
