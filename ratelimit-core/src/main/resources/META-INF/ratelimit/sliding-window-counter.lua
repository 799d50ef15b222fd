-- Sliding-window counter: the state of a window is when the one after it ends, aligned to 1970, the count in it and the count in
-- the window before, which weighs as much as a window that ends now still covers of it.
-- Stored as 18 bytes per window: double end in microseconds, 4-byte current, 4-byte previous, 2-byte tag.

width = 18

decode = function(value, at)
  local ends, current, previous, tag = unpack_struct('<dI4I4I2', value, at)
  return { ends = ends, current = current, previous = previous }, tag
end

encode = function(window, tag)
  return pack_struct('<dI4I4I2', window.ends, window.current, window.previous, tag)
end

local function end_at(quota, time)
  return time - time % quota.window + 2 * quota.window
end

start = function(quota, now)
  return { ends = end_at(quota, now), current = 0, previous = 0 }
end

settle = function(window, quota, now)
  local outruns = window.ends - 2 * quota.window > now
  local ends = end_at(quota, now)
  if window.ends < ends then
    window.previous = window.ends == ends - quota.window and window.current or 0
    window.current = 0
  elseif window.ends > ends then
    -- The clock was set back: what was counted in this window and in the one before counts now.
    window.current = math.min(quota.most, window.current + window.previous)
    window.previous = 0
  end
  window.ends = ends
  return outruns
end

-- previous * remaining / window, rounded up. The product can exceed 2^53: the quotient is estimated and corrected by its exact
-- remainder, computed in two halves of 21 bits.
local function share_up(previous, remaining, window)
  local share = floor(previous * remaining / window)
  local low, window_low = remaining % 2097152, window % 2097152
  local remainder = (previous * ((remaining - low) / 2097152) - share * ((window - window_low) / 2097152)) * 2097152
    + (previous * low - share * window_low)
  while remainder < 0 do
    share, remainder = share - 1, remainder + window
  end
  while remainder > 0 do
    share, remainder = share + 1, remainder - window
  end
  return share
end

count = function(window, quota, now)
  local weighted = 0
  if window.previous > 0 then
    weighted = share_up(window.previous, window.ends - quota.window - now, quota.window)
  end
  return quota.permits - window.current - weighted
end

spend = function(window, permits)
  window.current = window.current + permits
end

owable = function(window, quota)
  return 2 * quota.permits - window.current
end

refund = function(window, quota, permits, since)
  local ends, given = end_at(quota, since), 0
  if ends == window.ends then
    given = math.min(window.current, permits)
    window.current = window.current - given
  elseif ends == window.ends - quota.window then
    given = math.min(window.previous, permits)
    window.previous = window.previous - given
  end
  return given
end
