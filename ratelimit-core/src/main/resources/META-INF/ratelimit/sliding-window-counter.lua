-- Sliding-window counter: a quota's state is the start of its window, aligned to 1970, the count in it and the count in the
-- window before, which weighs as much as a window that ends now still covers of it.
-- Stored as 18 bytes per quota: double start in microseconds, 4-byte current, 4-byte previous, 2-byte tag.

find = function(value, tag)
  if #value == 0 or #value % 18 ~= 0 then
    return nil
  end
  local found, found_current, found_previous = false, 0, 0
  for at = 1, #value, 18 do
    local begin, current, previous, own = unpack_struct('<dI4I4I2', value, at)
    if not is_time(begin) then
      return nil
    end
    if own == tag then
      found, found_current, found_previous = begin, current, previous
    end
  end
  return found, found_current, found_previous
end

start = function(quota, now)
  quota.start, quota.current, quota.previous = now - now % quota.spec.window, 0, 0
end

settle = function(quota, now, counted_from, current, previous)
  local begin = now - now % quota.spec.window
  quota.start, quota.current, quota.previous = begin, current, previous
  if counted_from < begin then
    quota.previous = counted_from == begin - quota.spec.window and current or 0
    quota.current = 0
  elseif counted_from > begin then
    quota.current = math.min(quota.spec.permits, current + previous)
    quota.previous = 0
  end
  return counted_from > now
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

count = function(quota, now)
  local weighted = 0
  if quota.previous > 0 then
    weighted = share_up(quota.previous, quota.start + quota.spec.window - now, quota.spec.window)
  end
  return quota.spec.permits - quota.current - weighted
end

spend = function(quota, permits)
  quota.current = quota.current + permits
end

refund = function(quota, permits, since)
  local begin = since - since % quota.spec.window
  if begin == quota.start then
    quota.current = math.max(0, quota.current - permits)
  elseif begin == quota.start - quota.spec.window then
    quota.previous = math.max(0, quota.previous - permits)
  end
end

encode = function(quota)
  return pack_struct('<dI4I4I2', quota.start, quota.current, quota.previous, quota.spec.tag)
end

left = function(quota, now)
  return quota.start + 2 * quota.spec.window - now
end
