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
    if not (time >= 0 and time < 9007199254740992) or burst == 0 then
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

encode = function(counter)
  local value = ''
  for i = 1, #counter do
    local quota = counter[i]
    value = value .. pack_struct('<dI4i4I4I2', quota.time, quota.rest, quota.tokens, quota.burst, quota.tag)
  end
  return value
end

lifetime = function(counter, now)
  local longest = 0
  for i = 1, #counter do
    local quota = counter[i]
    local missing = quota.burst - quota.tokens
    longest = math.max(longest, quota.time - now + missing * quota.whole + floor(missing * quota.part / quota.permits) + 2)
  end
  return longest
end

local function count(quota)
  return quota.tokens
end

local function room(counter, now)
  return least_of(counter, count, now)
end

local function take(counter, permits)
  for i = 1, #counter do
    counter[i].tokens = counter[i].tokens - permits
  end
  counter.changed, counter.value = true, nil
end

local function give_back(counter, permits, since, now)
  for i = 1, #counter do
    local quota = counter[i]
    local full_up = quota.full_rest > 0 and quota.full + 1 or quota.full
    if now - since <= full_up then
      quota.tokens = quota.tokens + permits
      if quota.tokens >= quota.burst then
        start(quota, now)
      end
    end
  end
  counter.changed, counter.value = true, nil
end
