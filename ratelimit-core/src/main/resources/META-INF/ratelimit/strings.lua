-- What the algorithms share whose counter is one string: all are read with one MGET, kept in tables while the call lasts and
-- written once at the end. A counter is its windows by tag: those that a request of this call has, up to date, and those that
-- only other callers have, as stored. `value` is its string as last read or answered. A spec is a list of quotas: permits, window,
-- tag and the most permits that any caller has in the window. The algorithm says what is particular of a window, whose `ends`
-- is when it is over:
--   width                               bytes of a window in the string
--   decode(value, at)                   a window and its tag
--   encode(window, tag)                 its part of the string
--   start(quota, now)                   a window that nobody has used
--   settle(window, quota, now)          brings it up to date; true if it was ahead of the clock
--   count(window, quota, now)           permits that can be taken
--   spend(window, permits)              takes them
--   owable(window, quota)               permits that can be charged until as many as the quota has are owed
--   refund(window, quota, permits, since)  gives back what was taken at a time; how many permits that were

local unpack_struct, pack_struct, byte, floor = struct.unpack, struct.pack, string.byte, math.floor
local width, decode, encode, start, settle, count, spend, owable, refund

-- Milliseconds that a key outlives its state: one, because Redis compares expiry with a clock that it reads at another
-- moment; a day on a test's clock, which may stand still while Redis's own runs.
local linger = ARGV[1] == '' and 1 or 86400000

local function read(text)
  local spec = {}
  for at = 1, #text, 32 do
    local permits, window, tag, most = unpack_struct('<dddd', text, at)
    spec[#spec + 1] = { permits = permits, window = window, tag = tag, most = most }
  end
  return spec
end

-- The counter of a string, false if the string is none of ours.
local function parse(value)
  local counter = {
    value = value or '', changed = false, windows = {}, tags = {}, stored = {}, stored_tags = {}, length = 0, latest = 0
  }
  if value then
    if #value == 0 or #value % width ~= 0 then
      return false
    end
    for at = 1, #value, width do
      local window, tag = decode(value, at)
      -- What is no double, or no time of ours, cannot be a time.
      if not (window.ends >= 0 and window.ends < 9007199254740992) then
        return false
      end
      counter.stored[tag] = window
      counter.latest = math.max(counter.latest, window.ends)
      counter.stored_tags[#counter.stored_tags + 1] = tag
    end
    counter.length = #value
  end
  return counter
end

local function load()
  local values = redis.call('MGET', unpack(KEYS))
  local missing = {}
  for i = 1, #KEYS do
    local value = values[i]
    if not value then
      missing[#missing + 1] = KEYS[i]
    end
    values[i] = parse(value)
  end
  -- MGET has no answer for what is no string either. As a rule none of the missing is there.
  if #missing > 0 and redis.call('EXISTS', unpack(missing)) > 0 then
    for i = 1, #KEYS do
      if values[i] and values[i].value == '' and redis.call('EXISTS', KEYS[i]) == 1 then
        values[i] = false
      end
    end
  end
  return values
end

local function enter(counter, spec, now)
  for i = 1, #spec do
    local quota = spec[i]
    local tag = quota.tag
    if not counter.windows[tag] then
      local window = counter.stored[tag]
      if not window then
        window = start(quota, now)
      elseif settle(window, quota, now) then
        counter.changed, counter.value = true, nil
      end
      counter.stored[tag] = nil
      counter.windows[tag] = window
      counter.tags[#counter.tags + 1] = tag
    end
  end
end

local function room(counter, spec, now)
  local least = count(counter.windows[spec[1].tag], spec[1], now)
  for i = 2, #spec do
    local available = count(counter.windows[spec[i].tag], spec[i], now)
    if available < least then
      least = available
    end
  end
  return least > 0 and least or 0
end

local function take(counter, spec, permits)
  for i = 1, #spec do
    spend(counter.windows[spec[i].tag], permits)
  end
  counter.changed, counter.value = true, nil
end

local function give_back(counter, spec, permits, since)
  local given = 0
  for i = 1, #spec do
    given = math.max(given, refund(counter.windows[spec[i].tag], spec[i], permits, since))
  end
  counter.changed, counter.value = true, nil
  return given
end

local function charge(counter, spec, permits)
  local charged = 0
  for i = 1, #spec do
    local window = counter.windows[spec[i].tag]
    local most = math.max(0, math.min(permits, owable(window, spec[i])))
    spend(window, most)
    charged = math.max(charged, most)
  end
  counter.changed, counter.value = true, nil
  return charged
end

-- Calls a function with each window that means something, and its tag.
local function each(counter, now, visit)
  for i = 1, #counter.tags do
    visit(counter.windows[counter.tags[i]], counter.tags[i])
  end
  for i = 1, #counter.stored_tags do
    local window = counter.stored[counter.stored_tags[i]]
    if window and window.ends > now then
      visit(window, counter.stored_tags[i])
    end
  end
end

local function tell(counter, _, _, now)
  if not counter.value then
    local value = ''
    each(counter, now, function(window, tag)
      value = value .. encode(window, tag)
    end)
    counter.value = value
  end
  return counter.value
end

-- The key has the expiry of the latest end in its string: while that stays, it is left alone.
local function save(key, counter, now, plain)
  local longest = now
  each(counter, now, function(window)
    longest = math.max(longest, window.ends)
  end)
  local text = tell(counter, nil, nil, now)
  if not plain and #text == counter.length and longest == counter.latest then
    plain = redis.pcall('SETRANGE', key, '0', text) ~= #text
    if not plain then
      return false
    end
  end
  redis.call('SET', key, text, 'PX', floor((longest - now + 999) / 1000) + linger)
  return plain
end
