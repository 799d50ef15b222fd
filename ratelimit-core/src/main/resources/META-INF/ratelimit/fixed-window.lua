-- Fixed window: the state of a window is when it ends, aligned to 1970, and the count in it.
-- Stored as 14 bytes per window: double end in microseconds, 4-byte count, 2-byte tag.

width = 14

decode = function(value, at)
  local ends, used, tag = unpack_struct('<dI4I2', value, at)
  return { ends = ends, used = used }, tag
end

encode = function(window, tag)
  return pack_struct('<dI4I2', window.ends, window.used, tag)
end

local function end_at(quota, time)
  return time - time % quota.window + quota.window
end

start = function(quota, now)
  return { ends = end_at(quota, now), used = 0 }
end

settle = function(window, quota, now)
  local outruns = window.ends - quota.window > now
  local ends = end_at(quota, now)
  if window.ends < ends then
    window.used = 0
  end
  window.ends = ends
  return outruns
end

count = function(window, quota)
  return quota.permits - window.used
end

spend = function(window, permits)
  window.used = window.used + permits
end

owable = function(window, quota)
  return 2 * quota.permits - window.used
end

refund = function(window, quota, permits, since)
  if end_at(quota, since) ~= window.ends then
    return 0
  end
  local given = math.min(window.used, permits)
  window.used = window.used - given
  return given
end
