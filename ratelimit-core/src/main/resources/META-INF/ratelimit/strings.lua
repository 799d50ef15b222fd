-- What the algorithms share whose counter is one string: it is read with one MGET, kept in a table while the call lasts and
-- written once at the end. The algorithm defines parse (string to blocks by tag, nil if it is none), start and settle for
-- one quota, encode and lifetime (microseconds until the state means nothing).

local unpack_struct, pack_struct, byte, floor = struct.unpack, struct.pack, string.byte, math.floor
local parse, start, settle, encode, lifetime

-- Milliseconds that a key outlives its state: one, because Redis compares expiry with a clock that it reads at another
-- moment; a day on a test's clock, which may stand still while Redis's own runs.
local linger = ARGV[1] == '' and 1 or 86400000

-- A counter is a list of its quotas, each a table of its numbers, and `value`, its string as last read or told.
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
      counter.changed = true
      counter.value = nil
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

local function tell(counter)
  if not counter.value then
    counter.value = encode(counter)
  end
  return counter.value
end

local function save(key, counter, now)
  redis.call('SET', key, tell(counter), 'PX', floor((lifetime(counter, now) + 999) / 1000) + linger)
end

-- How many permits come back in a time, at most the burst: Pace.permitsIn.
local function permits_in(quota, micros, rest)
  local permits, whole, part, burst = quota.permits, quota.whole, quota.part, quota.burst
  if micros < 0 then
    return 0
  end
  if part == 0 then
    local count = floor(micros / whole)
    return count < burst and count or burst
  end
  local count = floor(micros * permits / quota.window)
  if count > burst then
    count = burst
  end
  while count > 0 do
    local needed = count * whole + floor(count * part / permits)
    if needed < micros or (needed == micros and count * part % permits <= rest) then
      break
    end
    count = count - 1
  end
  while count < burst do
    local needed = (count + 1) * whole + floor((count + 1) * part / permits)
    if needed > micros or (needed == micros and (count + 1) * part % permits > rest) then
      break
    end
    count = count + 1
  end
  return count
end

-- The smallest room under any quota, by the algorithm's own count for one.
local function least_of(counter, count, now)
  local least = count(counter[1], now)
  for i = 2, #counter do
    local available = count(counter[i], now)
    if available < least then
      least = available
    end
  end
  return least > 0 and least or 0
end
