-- Fixed window: a quota's state is the start of its window, aligned to 1970, and the count in it.
-- Stored as 14 bytes per quota: double start in microseconds, 4-byte count, 2-byte tag.

parse = function(value)
  if #value == 0 or #value % 14 ~= 0 then
    return nil
  end
  local blocks = {}
  for at = 1, #value, 14 do
    local begin, used, tag = unpack_struct('<dI4I2', value, at)
    if not is_time(begin) then
      return nil
    end
    blocks[tag] = { begin, used }
  end
  return blocks
end

start = function(quota, now)
  quota.start, quota.used = now - now % quota.window, 0
end

settle = function(quota, block, now)
  local begin = now - now % quota.window
  quota.start = begin
  quota.used = block[1] < begin and 0 or block[2]
  return block[1] > now
end

count = function(quota)
  return quota.permits - quota.used
end

spend = function(quota, permits)
  quota.used = quota.used + permits
end

refund = function(quota, permits, since)
  if since - since % quota.window == quota.start then
    quota.used = math.max(0, quota.used - permits)
  end
end

encode = function(quota)
  return pack_struct('<dI4I2', quota.start, quota.used, quota.tag)
end

left = function(quota, now)
  return quota.start + quota.window - now
end
