-- Sliding-window log: a list with one entry per admitted request, shared by all quotas of a limit. Of two requests in one
-- microsecond the second joins the first one's entry, so an entry's time names it.
-- Stored as 20 bytes per entry: double time, double permits admitted before it, 4-byte permits of its own. Because the total
-- is running, what a window holds is one subtraction after a binary search: no call walks the log.
-- A spec is how many quotas there are, permits and window of each, and the most permits and the length of each window that some
-- caller of the limit has: entries are kept for all of them.

local unpack_struct, pack_struct, byte, floor = struct.unpack, struct.pack, string.byte, math.floor

-- Milliseconds that a key outlives its state: one, because Redis compares expiry with a clock that it reads at another
-- moment; a day on a test's clock, which may stand still while Redis's own runs.
local linger = ARGV[1] == '' and 1 or 86400000

-- How many expired entries are removed by one write, and how many are rewritten by a give-back.
local PRUNED_AT_ONCE = 100
local DEEPEST_GIVE_BACK = 400

local function entry(counter, index)
  return unpack_struct('<ddI4', redis.call('LINDEX', counter.key, index))
end

-- Index of the first entry later than a time, the length if there is none.
local function first_after(counter, time)
  local low, high = 0, counter.length
  while low < high do
    local middle = floor((low + high) / 2)
    if entry(counter, middle) > time then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

-- Index of the first entry with which the running total reaches a number.
local function first_reaching(counter, total)
  local low, high = 0, counter.length - 1
  while low < high do
    local middle = floor((low + high) / 2)
    local _, before, cost = entry(counter, middle)
    if before + cost >= total then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

local function measure(counter)
  counter.length = redis.call('LLEN', counter.key)
  counter.total, counter.last = 0, -1
  if counter.length > 0 then
    local time, before, cost = entry(counter, -1)
    counter.last, counter.total = time, before + cost
  end
end

local function keep(counter)
  redis.call('PEXPIRE', counter.key, floor((counter.longest + 999) / 1000) + linger)
end

local function read(text)
  local spec = { live = {}, longest = 0 }
  local own = unpack_struct('<d', text)
  for at = 9, #text, 16 do
    local permits, window = unpack_struct('<dd', text, at)
    local windows = #spec < own and spec or spec.live
    windows[#windows + 1] = { permits = permits, window = window }
    spec.longest = math.max(spec.longest, window)
  end
  return spec
end

local function load()
  local counters = {}
  for i = 1, #KEYS do
    local key = KEYS[i]
    local length = redis.pcall('LLEN', key)
    counters[i] = type(length) == 'number'
      and (length == 0 or #redis.call('LINDEX', key, 0) == 20 and #redis.call('LINDEX', key, -1) == 20)
      and { key = key, longest = 0 }
    if counters[i] then
      measure(counters[i])
    end
  end
  return counters
end

local function enter(counter, spec, now)
  counter.longest = math.max(counter.longest, spec.longest)
  if counter.last > now then
    -- The clock was set back: all that lies ahead counts as admitted now.
    local from = first_after(counter, now - 1)
    local _, before = entry(counter, from)
    if from == 0 then
      redis.call('DEL', counter.key)
    else
      redis.call('LTRIM', counter.key, 0, from - 1)
    end
    redis.call('RPUSH', counter.key, pack_struct('<ddI4', now, before, counter.total - before))
    keep(counter)
    measure(counter)
  end
end

-- Permits in a window that ends now, and the index of the oldest entry in it.
local function used(counter, window, now)
  local oldest = first_after(counter, now - window)
  if oldest == counter.length then
    return 0, oldest
  end
  local _, before = entry(counter, oldest)
  return counter.total - before, oldest, before
end

local function room(counter, spec, now)
  local least = 9007199254740992
  for i = 1, #spec do
    least = math.min(least, spec[i].permits - used(counter, spec[i].window, now))
  end
  return math.max(0, least)
end

-- How many of the oldest entries all callers can do without, at most 100. A window needs an entry unless it is outside, or as
-- many permits as any caller has in the window were admitted after it and can no longer be given back. If any window needs an
-- entry, it needs the later ones too, so a search finds the first; as a rule that is the oldest entry of all. Each step reads one
-- entry for all windows, so the search is as long with nine windows as with one.
local function unneeded(counter, spec, now)
  local settled, admitted = counter.length - DEEPEST_GIVE_BACK - 1, 0
  if settled > 0 then
    local _, before = entry(counter, settled)
    admitted = before
  end
  local low, high, middle = 0, math.min(counter.length, PRUNED_AT_ONCE), 0
  while low < high do
    local time, before, cost = entry(counter, middle)
    local needed = false
    for i = 1, #spec.live do
      local window = spec.live[i]
      needed = needed or time > now - window.window and admitted - before - cost < window.permits
    end
    if needed then
      high = middle
    else
      low = middle + 1
    end
    middle = floor((low + high) / 2)
  end
  return low
end

local function take(counter, spec, permits, now)
  if counter.last == now then
    local time, before, cost = entry(counter, -1)
    redis.call('LSET', counter.key, -1, pack_struct('<ddI4', time, before, cost + permits))
  else
    redis.call('RPUSH', counter.key, pack_struct('<ddI4', now, counter.total, permits))
    counter.length, counter.last = counter.length + 1, now
  end
  counter.total = counter.total + permits
  local gone = unneeded(counter, spec, now)
  if gone > 0 then
    redis.call('LPOP', counter.key, gone)
    counter.length = counter.length - gone
  end
  keep(counter)
end

local function give_back(counter, _, permits, since)
  local index = first_after(counter, since - 1)
  local behind = counter.length - index - 1
  if behind < 0 or behind > DEEPEST_GIVE_BACK then
    return 0
  end
  local entries = redis.call('LRANGE', counter.key, index, -1)
  local time, before, cost = unpack_struct('<ddI4', entries[1])
  if time ~= since then
    return 0
  end
  local given = math.min(permits, cost)
  local rewritten = {}
  if given < cost then
    rewritten[1] = pack_struct('<ddI4', time, before, cost - given)
  end
  for i = 2, #entries do
    time, before, cost = unpack_struct('<ddI4', entries[i])
    rewritten[#rewritten + 1] = pack_struct('<ddI4', time, before - given, cost)
  end
  local ttl = redis.call('PTTL', counter.key)
  if index == 0 then
    redis.call('DEL', counter.key)
  else
    redis.call('LTRIM', counter.key, 0, index - 1)
  end
  if #rewritten > 0 then
    redis.call('RPUSH', counter.key, unpack(rewritten))
  end
  if ttl > 0 then
    redis.call('PEXPIRE', counter.key, ttl)
  end
  measure(counter)
  return given
end

-- Quotas share the entries, so all of them are charged the same: up to twice the permits of the largest.
local function charge(counter, spec, permits, now)
  local largest, most_used = 0, 0
  for i = 1, #spec do
    local held = used(counter, spec[i].window, now)
    largest, most_used = math.max(largest, spec[i].permits), math.max(most_used, held)
  end
  local charged = math.max(0, math.min(permits, 2 * largest - most_used))
  if charged > 0 then
    take(counter, spec, charged, now)
  end
  return charged
end

-- The entries that say all there is to say now: per quota the oldest in its window, the one whose leaving makes room for one
-- permit more and, if the request was refused, the one whose leaving makes room for it; and the two newest. The same
-- arithmetic on these gives the same answers as on the whole log.
local function tell(counter, spec, wanted, now)
  if counter.length == 0 then
    return ''
  end
  local told = table.concat(redis.call('LRANGE', counter.key, -2, -1))
  for i = 1, #spec do
    local permits = spec[i].permits
    local held, oldest, before = used(counter, spec[i].window, now)
    if held > 0 then
      told = told .. redis.call('LINDEX', counter.key, oldest)
      local excess = math.max(1, held + 1 - permits)
      told = told .. redis.call('LINDEX', counter.key, first_reaching(counter, before + excess))
      excess = held + wanted - permits
      if wanted > 0 and wanted <= permits and excess > 0 then
        told = told .. redis.call('LINDEX', counter.key, first_reaching(counter, before + excess))
      end
    end
  end
  return told
end

local function save(_, _, _, plain)
  return plain
end
