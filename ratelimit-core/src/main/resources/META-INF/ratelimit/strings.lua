-- What the algorithms share whose counter is one string: it is read with one MGET, kept in a table while the call lasts and
-- written once at the end. A counter is a list of its quotas, each a table of numbers, and `value`, its string as last read
-- or told. The algorithm says what is particular about one quota:
--   parse(value)                        blocks by the tag of their window, nil if the string is none of its own
--   start(quota, now)                   a quota that nobody has used
--   settle(quota, block, now)           brings a block up to date; true if it was ahead of the clock
--   count(quota, now)                   permits that can be taken
--   spend(quota, permits)               takes them
--   refund(quota, permits, since, now)  gives back what was taken at a time
--   encode(quota, alone)                its part of the string
--   left(quota, now)                    microseconds until it means nothing

local unpack_struct, pack_struct, byte, floor = struct.unpack, struct.pack, string.byte, math.floor
local parse, start, settle, count, spend, refund, encode, left

-- Milliseconds that a key outlives its state: one, because Redis compares expiry with a clock that it reads at another
-- moment; a day on a test's clock, which may stand still while Redis's own runs.
local linger = ARGV[1] == '' and 1 or 86400000

local function open(key, value, spec, now)
  local blocks
  if value then
    blocks = parse(value)
    if not blocks then
      return false
    end
  elseif redis.call('EXISTS', key) == 1 then
    return false -- MGET has no answer for what is no string
  end
  local counter = { value = value or '' }
  for i = 1, #spec / 64 do
    local quota = {}
    quota.permits, quota.window, quota.burst, quota.whole, quota.part, quota.full, quota.full_rest, quota.tag =
      unpack_struct('<dddddddd', spec, i * 64 - 63)
    local block = blocks and blocks[quota.tag]
    if not block then
      start(quota, now)
    elseif settle(quota, block, now) then
      counter.changed, counter.value = true, nil
    end
    counter[i] = quota
  end
  return counter
end

local function load(now)
  local values = redis.call('MGET', unpack(KEYS))
  for i = 1, #KEYS do
    values[i] = open(KEYS[i], values[i], ARGV[i + 1], now)
  end
  return values
end

local function room(counter, now)
  local least = count(counter[1], now)
  for i = 2, #counter do
    local available = count(counter[i], now)
    if available < least then
      least = available
    end
  end
  return least > 0 and least or 0
end

local function take(counter, permits)
  for i = 1, #counter do
    spend(counter[i], permits)
  end
  counter.changed, counter.value = true, nil
end

local function give_back(counter, permits, since, now)
  for i = 1, #counter do
    refund(counter[i], permits, since, now)
  end
  counter.changed, counter.value = true, nil
end

local function tell(counter)
  local value = counter.value
  if not value then
    value = encode(counter[1], #counter == 1)
    for i = 2, #counter do
      value = value .. encode(counter[i])
    end
    counter.value = value
  end
  return value
end

local function save(key, counter, now)
  local longest = 0
  for i = 1, #counter do
    longest = math.max(longest, left(counter[i], now))
  end
  redis.call('SET', key, tell(counter), 'PX', floor((longest + 999) / 1000) + linger)
end

-- Whether a number can be a time: what is no double, or no time of ours, cannot.
local function is_time(number)
  return number >= 0 and number < 9007199254740992
end

-- How long an empty quota takes to be full, rounded up.
local function full_up(quota)
  return quota.full_rest > 0 and quota.full + 1 or quota.full
end

-- How many permits come back in a time, at most the burst: Pace.permitsIn.
local function permits_in(quota, micros, rest)
  local permits, whole, part, burst = quota.permits, quota.whole, quota.part, quota.burst
  if micros < 0 then
    return 0
  end
  if part == 0 then
    local back = floor(micros / whole)
    return back < burst and back or burst
  end
  local back = floor(micros * permits / quota.window)
  if back > burst then
    back = burst
  end
  while back > 0 do
    local needed = back * whole + floor(back * part / permits)
    if needed < micros or (needed == micros and back * part % permits <= rest) then
      break
    end
    back = back - 1
  end
  while back < burst do
    local needed = (back + 1) * whole + floor((back + 1) * part / permits)
    if needed > micros or (needed == micros and (back + 1) * part % permits > rest) then
      break
    end
    back = back + 1
  end
  return back
end
