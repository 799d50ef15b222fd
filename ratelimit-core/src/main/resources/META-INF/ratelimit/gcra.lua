-- GCRA: a quota's state is its theoretical arrival time, as microseconds and a rest in 1/permits of one.
-- Stored for one quota without a rest as an integer of 19 digits, 16 of the time and 3 of the window's tag, which Redis keeps
-- in 8 bytes; otherwise 14 bytes per quota: double time, 4-byte rest, 2-byte tag.

find = function(value, tag)
  if #value == 19 then
    local time, own = tonumber(sub(value, 1, 16)), tonumber(sub(value, 17))
    if not time or not own then
      return nil
    end
    return own == tag and time, 0
  end
  if #value == 0 or #value % 14 ~= 0 then
    return nil
  end
  local found, found_rest = false, 0
  for at = 1, #value, 14 do
    local time, rest, own = unpack_struct('<dI4I2', value, at)
    if not is_time(time) then
      return nil
    end
    if own == tag then
      found, found_rest = time, rest
    end
  end
  return found, found_rest
end

start = function(quota, now)
  quota.time, quota.rest = now, 0
end

settle = function(quota, now, time, rest)
  if time - now > 2 * full_up(quota) then
    quota.time, quota.rest = now + quota.spec.full, quota.spec.full_rest
    return true
  end
  if time < now then
    time, rest = now, 0
  elseif rest >= quota.spec.permits then
    time, rest = time + 1, 0
  end
  quota.time, quota.rest = time, rest
  return false
end

count = function(quota, now)
  local micros, rest = quota.spec.full - (quota.time - now), quota.spec.full_rest - quota.rest
  if rest < 0 then
    return permits_in(quota, micros - 1, rest + quota.spec.permits)
  end
  return permits_in(quota, micros, rest)
end

spend = function(quota, permits)
  local rest = quota.rest + permits * quota.spec.part % quota.spec.permits
  local time = quota.time + permits * quota.spec.whole + floor(permits * quota.spec.part / quota.spec.permits)
  if rest >= quota.spec.permits then
    time, rest = time + 1, rest - quota.spec.permits
  end
  quota.time, quota.rest = time, rest
end

refund = function(quota, permits, since, now)
  if now - since > full_up(quota) then
    return
  end
  local rest = quota.rest - permits * quota.spec.part % quota.spec.permits
  local time = quota.time - permits * quota.spec.whole - floor(permits * quota.spec.part / quota.spec.permits)
  if rest < 0 then
    time, rest = time - 1, rest + quota.spec.permits
  end
  if time < now then
    time, rest = now, 0
  end
  quota.time, quota.rest = time, rest
end

encode = function(quota, alone)
  if alone and quota.rest == 0 then
    return string.format('%016.0f%03d', quota.time, quota.spec.tag)
  end
  return pack_struct('<dI4I2', quota.time, quota.rest, quota.spec.tag)
end

left = function(quota, now)
  return quota.time - now + 1
end
