-- Token bucket: a quota's state is its whole tokens, the time at which the last one came in (microseconds and a rest in
-- 1/permits of one), and the burst that the tokens were counted under.
-- Stored as 22 bytes per quota: double time, 4-byte rest, signed 4-byte tokens, 4-byte burst, 2-byte tag.

find = function(value, tag)
  if #value == 0 or #value % 22 ~= 0 then
    return nil
  end
  local found, found_rest, found_tokens, found_burst = false, 0, 0, 0
  for at = 1, #value, 22 do
    local time, rest, tokens, burst, own = unpack_struct('<dI4i4I4I2', value, at)
    if not is_time(time) or burst == 0 then
      return nil
    end
    if own == tag then
      found, found_rest, found_tokens, found_burst = time, rest, tokens, burst
    end
  end
  return found, found_rest, found_tokens, found_burst
end

start = function(quota, now)
  quota.tokens, quota.time, quota.rest = quota.spec.burst, now, 0
end

settle = function(quota, now, time, rest, tokens, counted_under)
  local burst = quota.spec.burst
  local outruns = time > now
  if counted_under ~= burst then
    tokens = floor(tokens * burst / counted_under)
  end
  if rest >= quota.spec.permits then
    time, rest = time + 1, 0
  end
  if time > now then
    time, rest = now, 0
  end
  local came
  if rest > 0 then
    came = permits_in(now - time - 1, quota.spec.permits - rest, quota.spec.permits, quota.spec.window, burst,
      quota.spec.whole, quota.spec.part)
  else
    came = permits_in(now - time, 0, quota.spec.permits, quota.spec.window, burst, quota.spec.whole, quota.spec.part)
  end
  if tokens + came >= burst then
    start(quota, now)
    return outruns
  end
  time = time + came * quota.spec.whole + floor(came * quota.spec.part / quota.spec.permits)
  rest = rest + came * quota.spec.part % quota.spec.permits
  if rest >= quota.spec.permits then
    time, rest = time + 1, rest - quota.spec.permits
  end
  quota.tokens, quota.time, quota.rest = tokens + came, time, rest
  return outruns
end

count = function(quota)
  return quota.tokens
end

spend = function(quota, permits)
  quota.tokens = quota.tokens - permits
end

refund = function(quota, permits, since, now)
  if now - since <= full_up(quota) then
    quota.tokens = quota.tokens + permits
    if quota.tokens >= quota.spec.burst then
      start(quota, now)
    end
  end
end

encode = function(quota)
  return pack_struct('<dI4i4I4I2', quota.time, quota.rest, quota.tokens, quota.spec.burst, quota.spec.tag)
end

left = function(quota, now)
  local missing = quota.spec.burst - quota.tokens
  return quota.time - now + missing * quota.spec.whole + floor(missing * quota.spec.part / quota.spec.permits) + 2
end
