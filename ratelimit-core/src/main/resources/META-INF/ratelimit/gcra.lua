-- GCRA: decides a list of requests in their order, each all-or-nothing over its counters, at one time. The algorithm of
-- almost everybody, so it is written for speed: one function, no tables but a few flat ones, one MGET. What it is given
-- and returns is what frame.lua says; a quota's state is its theoretical arrival time, as microseconds and a rest in
-- 1/permits of one.
-- Stored for one quota without a rest as an integer of 19 digits, 16 of the time and 3 of the window's tag, which Redis keeps
-- in 8 bytes; otherwise 14 bytes per quota: double time, 4-byte rest, 2-byte tag.
-- Numbers are integers below 2^53, see frame.lua.

local keys, arguments = KEYS, ARGV
local call, unpack_struct, pack_struct = redis.call, struct.unpack, struct.pack
local byte, sub, format, floor = string.byte, string.sub, string.format, math.floor

local now
if arguments[1] == '' then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(arguments[1])
end

-- How many permits come back in a time, at most the burst: Pace.permitsIn. Only for rates that do not divide their window.
local function permits_in(micros, rest, permits, window, burst, whole, part)
  if micros < 0 then
    return 0
  end
  local back = floor(micros * permits / window)
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

-- Of each counter: the numbers of its spec, eight per quota; where its quotas begin in times and rests; its string as last
-- read or told, nil if it has to be made anew; whether it has to be written. A foreign one has no spec.
local count = #keys
local specs, first, told, changed = {}, {}, {}, {}
local times, rests = {}, {}
local quotas, known, missing = 0, {}, nil
local values = call('MGET', unpack(keys))

for counter = 1, count do
  local text, value = arguments[counter + 1], values[counter]
  local spec = known[text]
  if not spec then
    spec = { unpack_struct('<dddddddd', text) }
    for at = 65, #text, 64 do
      local offset = (at - 1) / 8
      spec[offset + 1], spec[offset + 2], spec[offset + 3], spec[offset + 4], spec[offset + 5], spec[offset + 6],
        spec[offset + 7], spec[offset + 8] = unpack_struct('<dddddddd', text, at)
    end
    spec[#text / 8 + 1] = nil -- the position that unpack adds
    known[text] = spec
  end
  specs[counter], first[counter], told[counter] = spec, quotas, value or ''
  local size = value and #value
  if not value then
    missing = missing or {}
    missing[#missing + 1] = keys[counter]
  elseif size ~= 19 and (size == 0 or size % 14 ~= 0) then
    specs[counter] = false
  end
  for offset = 0, #text / 8 - 1, 8 do
    local time, rest, tag = now, 0, spec[offset + 8]
    if size == 19 then
      local stored, own = tonumber(sub(value, 1, 16)), tonumber(sub(value, 17))
      if not stored or not own then
        specs[counter] = false
      elseif own == tag then
        time = stored
      end
    elseif value and specs[counter] then
      for at = 1, size, 14 do
        local stored, stored_rest, own = unpack_struct('<dI4I2', value, at)
        if not (stored >= 0 and stored < 9007199254740992) then
          specs[counter] = false
        elseif own == tag then
          time, rest = stored, stored_rest
        end
      end
    end
    local full, full_rest = spec[offset + 6], spec[offset + 7]
    if time - now > 2 * (full_rest > 0 and full + 1 or full) then
      time, rest = now + full, full_rest
      changed[counter], told[counter] = true, nil
    elseif time < now then
      time, rest = now, 0
    elseif rest >= spec[offset + 1] then
      time, rest = time + 1, 0
    end
    quotas = quotas + 1
    times[quotas], rests[quotas] = time, rest
  end
end

-- MGET has no answer for what is no string either. As a rule none of the missing is there.
if missing and call('EXISTS', unpack(missing)) > 0 then
  for counter = 1, count do
    if not values[counter] and call('EXISTS', keys[counter]) == 1 then
      specs[counter] = false
    end
  end
end

local reply, last = { now }, 1

for argument = count + 2, #arguments do
  local request = arguments[argument]
  local unit, least, most, since = unpack_struct('<dddd', request)
  local size = #request
  local taken = most
  for at = 33, size do
    local counter = byte(request, at)
    local spec = specs[counter]
    if not spec then
      taken = -1
      break
    elseif since == 0 and most > 0 then
      local quota = first[counter]
      for offset = 0, #spec - 1, 8 do
        quota = quota + 1
        local micros, rest = spec[offset + 6] - (times[quota] - now), spec[offset + 7] - rests[quota]
        local part, burst, available = spec[offset + 5], spec[offset + 3], 0
        if part ~= 0 or rest ~= 0 then
          if rest < 0 then
            micros, rest = micros - 1, rest + spec[offset + 1]
          end
          available = permits_in(micros, rest, spec[offset + 1], spec[offset + 2], burst, spec[offset + 4], part)
        elseif micros > 0 then
          available = floor(micros / spec[offset + 4])
          if available > burst then
            available = burst
          end
        end
        if available < taken then
          taken = available
        end
      end
    end
  end
  local sign = 0
  if taken >= 0 then
    if since > 0 then
      sign = -1
    elseif most > 0 then
      taken = taken - taken % unit
      if taken < least then
        taken = 0
      end
      sign = taken > 0 and 1 or 0
    end
  end
  last = last + 1
  reply[last] = taken
  for at = 33, size do
    local counter = byte(request, at)
    local spec, state = specs[counter], ''
    if taken >= 0 then
      local quota = first[counter]
      local alone = #spec == 8
      if sign ~= 0 then
        changed[counter], told[counter] = true, nil
        for offset = 0, #spec - 1, 8 do
          quota = quota + 1
          local permits, whole, part = spec[offset + 1], spec[offset + 4], spec[offset + 5]
          local time, rest = times[quota], rests[quota]
          if sign > 0 then
            time = time + taken * whole
            if part ~= 0 then
              time, rest = time + floor(taken * part / permits), rest + taken * part % permits
            end
            if rest >= permits then
              time, rest = time + 1, rest - permits
            end
          elseif now - since <= (spec[offset + 7] > 0 and spec[offset + 6] + 1 or spec[offset + 6]) then
            time, rest = time - most * whole - floor(most * part / permits), rest - most * part % permits
            if rest < 0 then
              time, rest = time - 1, rest + permits
            end
            if time < now then
              time, rest = now, 0
            end
          end
          times[quota], rests[quota] = time, rest
        end
      end
      state = told[counter]
      if not state then
        quota = first[counter]
        if alone and rests[quota + 1] == 0 then
          state = format('%016.0f%03d', times[quota + 1], spec[8])
        else
          state = ''
          for offset = 0, #spec - 1, 8 do
            quota = quota + 1
            state = state .. pack_struct('<dI4I2', times[quota], rests[quota], spec[offset + 8])
          end
        end
        told[counter] = state
      end
    end
    last = last + 1
    reply[last] = state
  end
end

-- Milliseconds that a key outlives its state: one, because Redis compares expiry with a clock that it reads at another
-- moment; a day on a test's clock, which may stand still while Redis's own runs.
local linger = arguments[1] == '' and 1 or 86400000

for counter = 1, count do
  local spec = specs[counter]
  if changed[counter] and spec then
    local quota, longest = first[counter], 0
    for _ = 1, #spec, 8 do
      quota = quota + 1
      if times[quota] > longest then
        longest = times[quota]
      end
    end
    local state = told[counter]
    if not state then
      -- Drawn back, but nobody asked for it to be told.
      state, quota = '', first[counter]
      for offset = 0, #spec - 1, 8 do
        quota = quota + 1
        state = state .. pack_struct('<dI4I2', times[quota], rests[quota], spec[offset + 8])
      end
    end
    call('SET', keys[counter], state, 'PX', floor((longest - now + 1000) / 1000) + linger)
  end
end
return reply
