-- Token bucket: a quota's state is its whole tokens, the time at which the last one came in (microseconds and a rest in
-- 1/permits of one), and the burst that the tokens were counted under.
-- Stored as 22 bytes per quota: double time, 4-byte rest, signed 4-byte tokens, 4-byte burst, 2-byte tag.

parse = function(value)
  if #value == 0 or #value % 22 ~= 0 then
    return nil
  end
  local blocks = {}
  for at = 1, #value, 22 do
    local time, rest, tokens, burst, tag = unpack_struct('<dI4i4I4I2', value, at)
    if not is_time(time) or burst == 0 then
      return nil
    end
    blocks[tag] = { time, rest, tokens, burst }
  end
  return blocks
end

start = function(quota, now)
  quota.tokens, quota.time, quota.rest = quota.burst, now, 0
end

settle = function(quota, block, now)
  local time, rest, tokens, burst = block[1], block[2], block[3], quota.burst
  local outruns = time > now
  if block[4] ~= burst then
    tokens = floor(tokens * burst / block[4])
  end
  if rest >= quota.permits then
    time, rest = time + 1, 0
  end
  if time > now then
    time, rest = now, 0
  end
  local came
  if rest > 0 then
    came = permits_in(quota, now - time - 1, quota.permits - rest)
  else
    came = permits_in(quota, now - time, 0)
  end
  if tokens + came >= burst then
    start(quota, now)
    return outruns
  end
  time = time + came * quota.whole + floor(came * quota.part / quota.permits)
  rest = rest + came * quota.part % quota.permits
  if rest >= quota.permits then
    time, rest = time + 1, rest - quota.permits
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
    if quota.tokens >= quota.burst then
      start(quota, now)
    end
  end
end

encode = function(quota)
  return pack_struct('<dI4i4I4I2', quota.time, quota.rest, quota.tokens, quota.burst, quota.tag)
end

left = function(quota, now)
  local missing = quota.burst - quota.tokens
  return quota.time - now + missing * quota.whole + floor(missing * quota.part / quota.permits) + 2
end
