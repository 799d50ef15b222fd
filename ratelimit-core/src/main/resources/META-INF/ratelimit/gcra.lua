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
    if not is_time(time) then
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
  if time - now > 2 * full_up(quota) then
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

count = function(quota, now)
  local micros, rest = quota.full - (quota.time - now), quota.full_rest - quota.rest
  if rest < 0 then
    return permits_in(quota, micros - 1, rest + quota.permits)
  end
  return permits_in(quota, micros, rest)
end

spend = function(quota, permits)
  local rest = quota.rest + permits * quota.part % quota.permits
  local time = quota.time + permits * quota.whole + floor(permits * quota.part / quota.permits)
  if rest >= quota.permits then
    time, rest = time + 1, rest - quota.permits
  end
  quota.time, quota.rest = time, rest
end

refund = function(quota, permits, since, now)
  if now - since > full_up(quota) then
    return
  end
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

encode = function(quota, alone)
  if alone and quota.rest == 0 then
    return string.format('%016.0f%03d', quota.time, quota.tag)
  end
  return pack_struct('<dI4I2', quota.time, quota.rest, quota.tag)
end

left = function(quota, now)
  return quota.time - now + 1
end
