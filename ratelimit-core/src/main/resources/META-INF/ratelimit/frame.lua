-- The frame: decides a list of requests in their order, each all-or-nothing over its counters, at one time.
-- Appended to the file of each algorithm but GCRA, which has a frame of its own; it defines read (a spec), load, enter (a counter
-- that is counted by a spec in this call), room, take, give_back, charge, tell and save,
-- which returns whether the server refuses a command to us and another one was used.
--
-- KEYS     the distinct counters of this call, at most 255, all on one slot
-- ARGV     1      microseconds since 1970 to decide at (a seam for tests), or '' for Redis's own clock
--          2      runs of requests that have the same number of counters, the same specs and the same amounts. Of each run:
--                 one byte for how many counters a request has, one for how many requests there are, one for the form; one for
--                 each counter, the number of the spec that it is counted by; and, if the form is 2 or 3, one for each counter
--                 of each request, its number in KEYS. Otherwise no other request has these counters, and they are the next ones
--                 in KEYS. The counters of one request are distinct.
--                 Form 0 and 2: one permit; form 1 and 3: the run's amounts are in the next argument
--          3      amounts: four little-endian doubles each, unit, least, most and since.
--                 since = 0: take as many multiples of unit as fit, at least `least` and at most `most`; or nothing
--                 since > 0: give `most` permits back that were taken at that time
--                 since < 0: charge `most` permits that were used already, up to a debt of one burst
--          3 + i  spec i, how a counter counts: the doubles of Pace.numbers (times in microseconds)
-- Returns  the time and one string. Of each request it has one byte for what was taken, given back or charged: 0 nothing, 1 or
--          4 all that was wanted, 3 the double that follows; 2 if a counter holds a foreign value, then nothing was done. Then, unless it is 2, the
--          state of each of its counters, after a length of two bytes unless it is 4; from it the caller derives remaining, reset
--          and retry. After 4 a state has one window per quota of its spec, without rests, see gcra.lua.
--          Last, 1 if the server refused a command and a more expensive one was used, otherwise nothing
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
for number = 4, #ARGV do
  specs[number - 3] = read(ARGV[number])
end

local counters, parts = load(now), {}

local function decide(members, own, unit, least, most, since)
  local sound = true
  local taken = most
  for i = 1, #members do
    local counter = members[i]
    if not counter then
      sound = false
    else
      enter(counter, own[i], now)
      if since == 0 and most > 0 then
        local available = room(counter, own[i], now)
        if available < taken then
          taken = available
        end
      end
    end
  end
  if not sound then
    parts[#parts + 1] = '\2'
    return
  end
  if since ~= 0 then
    for i = 1, #members do
      taken = math.min(taken, since > 0 and give_back(members[i], own[i], most, since) or charge(members[i], own[i], most, now))
    end
  elseif most > 0 then
    taken = taken - taken % unit
    if taken < least then
      taken = 0
    end
    if taken > 0 then
      for i = 1, #members do
        take(members[i], own[i], taken, now)
      end
    end
  end
  parts[#parts + 1] = taken == most and '\1' or taken == 0 and '\0' or '\3' .. pack_struct('<d', taken)
  for i = 1, #members do
    local state = tell(members[i], own[i], taken < least and least or 0, now)
    parts[#parts + 1] = pack_struct('<I2', #state) .. state
  end
end

local runs, at, amount, alone = ARGV[2], 1, 1, 1
while at < #runs do
  local size, requests, form = byte(runs, at, at + 2)
  local own, unit, least, most, since = {}, 1, 1, 1, 0
  for i = 1, size do
    own[i] = specs[byte(runs, at + 2 + i)]
  end
  at = at + 3 + size
  if form % 2 == 1 then
    unit, least, most, since, amount = unpack_struct('<dddd', ARGV[3], amount)
  end
  for _ = 1, requests do
    local members = {}
    for i = 1, size do
      if form < 2 then
        members[i], alone = counters[alone], alone + 1
      else
        members[i], at = counters[byte(runs, at)], at + 1
      end
    end
    decide(members, own, unit, least, most, since)
  end
end

local plain = false
for i = 1, #KEYS do
  local counter = counters[i]
  if counter and counter.changed then
    plain = save(KEYS[i], counter, now, plain)
  end
end
return { now, table.concat(parts), plain and 1 or nil }
