-- Fixed window: a quota's state is the start of its window, aligned to 1970, and the count in it.
-- Stored as 14 bytes per quota: double start in microseconds, 4-byte count, 2-byte tag.

parse = function(value)
  if #value == 0 or #value % 14 ~= 0 then
    return nil
  end
  local blocks = {}
  for at = 1, #value, 14 do
    local begin, used, tag = unpack_struct('<dI4I2', value, at)
    if not (begin >= 0 and begin < 9007199254740992) then
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

encode = function(counter)
  local value = ''
  for i = 1, #counter do
    value = value .. pack_struct('<dI4I2', counter[i].start, counter[i].used, counter[i].tag)
  end
  return value
end

lifetime = function(counter, now)
  local longest = 0
  for i = 1, #counter do
    longest = math.max(longest, counter[i].start + counter[i].window - now)
  end
  return longest
end

local function count(quota)
  return quota.permits - quota.used
end

local function room(counter, now)
  return least_of(counter, count, now)
end

local function take(counter, permits)
  for i = 1, #counter do
    counter[i].used = counter[i].used + permits
  end
  counter.changed, counter.value = true, nil
end

local function give_back(counter, permits, since)
  for i = 1, #counter do
    local quota = counter[i]
    if since - since % quota.window == quota.start then
      quota.used = math.max(0, quota.used - permits)
    end
  end
  counter.changed, counter.value = true, nil
end
