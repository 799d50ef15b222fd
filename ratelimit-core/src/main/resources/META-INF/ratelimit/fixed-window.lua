-- Fixed window: a quota's state is the start of its window, aligned to 1970, and the count in it.
-- Stored as 14 bytes per quota: double start in microseconds, 4-byte count, 2-byte tag.

find = function(value, tag)
  if #value == 0 or #value % 14 ~= 0 then
    return nil
  end
  local found, found_used = false, 0
  for at = 1, #value, 14 do
    local begin, used, own = unpack_struct('<dI4I2', value, at)
    if not is_time(begin) then
      return nil
    end
    if own == tag then
      found, found_used = begin, used
    end
  end
  return found, found_used
end

start = function(quota, now)
  quota.start, quota.used = now - now % quota.spec.window, 0
end

settle = function(quota, now, counted_from, used)
  local begin = now - now % quota.spec.window
  quota.start = begin
  quota.used = counted_from < begin and 0 or used
  return counted_from > now
end

count = function(quota)
  return quota.spec.permits - quota.used
end

spend = function(quota, permits)
  quota.used = quota.used + permits
end

refund = function(quota, permits, since)
  if since - since % quota.spec.window == quota.start then
    quota.used = math.max(0, quota.used - permits)
  end
end

encode = function(quota)
  return pack_struct('<dI4I2', quota.start, quota.used, quota.spec.tag)
end

left = function(quota, now)
  return quota.start + quota.spec.window - now
end
