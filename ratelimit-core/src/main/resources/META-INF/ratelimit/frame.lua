-- The frame: decides a list of requests in their order, each all-or-nothing over its counters, at one time.
-- Appended to the file of each algorithm but GCRA, which has a frame of its own; it defines load, room, take, give_back, tell
-- and save.
--
-- KEYS     the distinct counters of this call, at most 255, all on one slot
-- ARGV     1           microseconds since 1970 to decide at (a seam for tests), or '' for Redis's own clock
--          1 + i       how counter i counts: eight little-endian doubles per quota, namely permits, window, burst, whole,
--                      part, full, full's rest and tag (times in microseconds; see Pace.java)
--          the rest    one string per request: four doubles, unit, least, most and since, then one byte for each of its
--                      counters, the counter's number in KEYS
--                      since = 0: take as many multiples of unit as fit, at least `least` and at most `most`; or nothing
--                      since > 0: give `most` permits back that were taken at that time
-- Returns  the time, then for each request the permits taken (-1: a counter holds a foreign value, nothing was done)
--          and the state of each of its counters, from which the caller derives remaining, reset and retry
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

local counters = load(now)
local reply = { now }
local last = 1

for argument = #KEYS + 2, #ARGV do
  local request = ARGV[argument]
  local unit, least, most, since = unpack_struct('<dddd', request)
  local members = { byte(request, 33, -1) }
  local sound = true
  local taken = most
  for i = 1, #members do
    local counter = counters[members[i]]
    if not counter then
      sound = false
    elseif since == 0 and most > 0 then
      local available = room(counter, now)
      if available < taken then
        taken = available
      end
    end
  end
  if not sound then
    taken = -1
  elseif since > 0 then
    for i = 1, #members do
      give_back(counters[members[i]], most, since, now)
    end
  elseif most > 0 then
    taken = taken - taken % unit
    if taken < least then
      taken = 0
    end
    if taken > 0 then
      for i = 1, #members do
        take(counters[members[i]], taken, now)
      end
    end
  end
  last = last + 1
  reply[last] = taken
  for i = 1, #members do
    last = last + 1
    reply[last] = sound and tell(counters[members[i]], taken < least and least or 0, now) or ''
  end
end

for i = 1, #KEYS do
  local counter = counters[i]
  if counter and counter.changed then
    save(KEYS[i], counter, now)
  end
end
return reply
