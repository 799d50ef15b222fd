-- What the algorithms share whose counter is one string: all are read with one MGET, kept in tables while the call lasts and
-- written once at the end. A counter is a list of its quotas and `value`, its string as last read or told. A quota is its
-- state and `spec`, the numbers it counts by, which all counters of a limit share. The algorithm says what is particular:
--   find(value, tag)                    the numbers of the block with a window's tag, false if there is none, nil if the
--                                       string is none of its own
--   start(quota, now)                   a quota that nobody has used
--   settle(quota, now, ...)             brings such numbers up to date; true if they were ahead of the clock
--   count(quota, now)                   permits that can be taken
--   spend(quota, permits)               takes them
--   refund(quota, permits, since, now)  gives back what was taken at a time
--   encode(quota, alone)                its part of the string
--   left(quota, now)                    microseconds until it means nothing

local unpack_struct, pack_struct, byte, sub = struct.unpack, struct.pack, string.byte, string.sub
local find, start, settle, count, spend, refund, encode, left

-- Milliseconds that a key outlives its state: one, because Redis compares expiry with a clock that it reads at another
-- moment; a day on a test's clock, which may stand still while Redis's own runs.
local linger = ARGV[1] == '' and 1 or 86400000

local specs = {}

local function specs_of(text)
  local known = specs[text]
  if not known then
    known = {}
    for i = 1, #text / 64 do
      local permits, window, burst, whole, part, full, full_rest, tag = unpack_struct('<dddddddd', text, i * 64 - 63)
      known[i] = {
        permits = permits, window = window, burst = burst, whole = whole, part = part, full = full,
        full_rest = full_rest, tag = tag,
      }
    end
    specs[text] = known
  end
  return known
end

local function open(value, text, now)
  local known = specs_of(text)
  local counter = { value = value or '', changed = false }
  for i = 1, #known do
    local spec = known[i]
    local quota = { spec = spec, time = 0, rest = 0 }
    if value then
      local first, second, third, fourth = find(value, spec.tag)
      if first == nil then
        return false
      end
      if not first then
        start(quota, now)
      elseif settle(quota, now, first, second, third, fourth) then
        counter.changed, counter.value = true, nil
      end
    else
      start(quota, now)
    end
    counter[i] = quota
  end
  return counter
end

local function load(now)
  local values = redis.call('MGET', unpack(KEYS))
  local missing = {}
  for i = 1, #KEYS do
    local value = values[i]
    if not value then
      missing[#missing + 1] = KEYS[i]
    end
    values[i] = open(value, ARGV[4 + byte(ARGV[2], i)], now)
  end
  -- MGET has no answer for what is no string either. As a rule none of the missing is there.
  if #missing > 0 and redis.call('EXISTS', unpack(missing)) > 0 then
    for i = 1, #KEYS do
      if values[i] and values[i].value == '' and redis.call('EXISTS', KEYS[i]) == 1 then
        values[i] = false
      end
    end
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
  return quota.spec.full_rest > 0 and quota.spec.full + 1 or quota.spec.full
end
