-- GCRA: a quota's state is its theoretical arrival time, as microseconds and a rest in 1/permits of one.
-- Stored for one quota without a rest as an integer of 19 digits, 16 of the time and 3 of the window's tag, which Redis keeps
-- in 8 bytes; otherwise 14 bytes per quota: double time, 4-byte rest, 2-byte tag.

parse = function(value)
  local blocks = {}
  if #value == 19 then
    local time, tag = tonumber(value:sub(1, 16)), tonumber(value:sub(17))
    if not time or not tag then
      return nil
    end
    blocks[tag] = { time, 0 }
    return blocks
  end
  if #value == 0 or #value % 14 ~= 0 then
    return nil
  end
  for at = 1, #value, 14 do
    local time, rest, tag = unpack_struct('<dI4I2', value, at)
    if not (time >= 0 and time < 9007199254740992) then
      return nil
    end
    blocks[tag] = { time, rest }
  end
  return blocks
end

start = function(quota, now)
  quota.time, quota.rest = now, 0
end

settle = function(quota, block, now)
  local time, rest = block[1], block[2]
  local full_up = quota.full_rest > 0 and quota.full + 1 or quota.full
  if time - now > 2 * full_up then
    quota.time, quota.rest = now + quota.full, quota.full_rest
    return true
  end
  if time < now then
    time, rest = now, 0
  elseif rest >= quota.permits then
    time, rest = time + 1, 0
  end
  quota.time, quota.rest = time, rest
  return false
end

encode = function(counter)
  local first = counter[1]
  if #counter == 1 and first.rest == 0 then
    return string.format('%016.0f%03d', first.time, first.tag)
  end
  local value = ''
  for i = 1, #counter do
    value = value .. pack_struct('<dI4I2', counter[i].time, counter[i].rest, counter[i].tag)
  end
  return value
end

lifetime = function(counter, now)
  local longest = 0
  for i = 1, #counter do
    longest = math.max(longest, counter[i].time - now + 1)
  end
  return longest
end

local function count(quota, now)
  local micros, rest = quota.full - (quota.time - now), quota.full_rest - quota.rest
  if rest < 0 then
    return permits_in(quota, micros - 1, rest + quota.permits)
  end
  return permits_in(quota, micros, rest)
end

local function room(counter, now)
  return least_of(counter, count, now)
end

local function take(counter, permits)
  for i = 1, #counter do
    local quota = counter[i]
    local rest = quota.rest + permits * quota.part % quota.permits
    local time = quota.time + permits * quota.whole + floor(permits * quota.part / quota.permits)
    if rest >= quota.permits then
      time, rest = time + 1, rest - quota.permits
    end
    quota.time, quota.rest = time, rest
  end
  counter.changed, counter.value = true, nil
end

local function give_back(counter, permits, since, now)
  for i = 1, #counter do
    local quota = counter[i]
    local full_up = quota.full_rest > 0 and quota.full + 1 or quota.full
    if now - since <= full_up then
      local rest = quota.rest - permits * quota.part % quota.permits
      local time = quota.time - permits * quota.whole - floor(permits * quota.part / quota.permits)
      if rest < 0 then
        time, rest = time - 1, rest + quota.permits
      end
      if time < now then
        time, rest = now, 0
      end
      quota.time, quota.rest = time, rest
    end
  end
  counter.changed, counter.value = true, nil
end
