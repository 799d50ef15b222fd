-- Sliding-window log: a list with one entry per admitted request, shared by all quotas of a limit. Of two requests in one
-- microsecond the second joins the first one's entry, so an entry's time names it.
-- Stored as 20 bytes per entry: double time, double permits admitted before it, 4-byte permits of its own. Because the total
-- is running, what a window holds is one subtraction after a binary search: no call walks the log.

local unpack_struct, pack_struct, byte, floor = struct.unpack, struct.pack, string.byte, math.floor

-- Milliseconds that a key outlives its state: one, because Redis compares expiry with a clock that it reads at another
-- moment; a day on a test's clock, which may stand still while Redis's own runs.
local linger = ARGV[1] == '' and 1 or 86400000

-- How many entries that no window covers any more leave with one write, and how many are rewritten by a give-back.
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

local function open(key, spec, now)
  local counter = { key = key, longest = 0 }
  local length = redis.pcall('LLEN', key)
  if type(length) ~= 'number' then
    return false
  end
  if length > 0 and (#redis.call('LINDEX', key, 0) ~= 20 or #redis.call('LINDEX', key, -1) ~= 20) then
    return false
  end
  for i = 1, #spec / 64 do
    local permits, window = unpack_struct('<dd', spec, i * 64 - 63)
    counter[i] = { permits = permits, window = window }
    counter.longest = math.max(counter.longest, window)
  end
  measure(counter)
  if counter.last > now then
    -- The clock was set back: all that lies ahead counts as admitted now.
    local from = first_after(counter, now - 1)
    local _, before = entry(counter, from)
    if from == 0 then
      redis.call('DEL', key)
    else
      redis.call('LTRIM', key, 0, from - 1)
    end
    redis.call('RPUSH', key, pack_struct('<ddI4', now, before, counter.total - before))
    keep(counter)
    measure(counter)
  end
  return counter
end

local function load(now)
  local counters = {}
  for i = 1, #KEYS do
    counters[i] = open(KEYS[i], ARGV[4 + byte(ARGV[2], i)], now)
  end
  return counters
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

local function room(counter, now)
  local least = 9007199254740992
  for i = 1, #counter do
    least = math.min(least, counter[i].permits - used(counter, counter[i].window, now))
  end
  return math.max(0, least)
end

local function take(counter, permits, now)
  if counter.last == now then
    local time, before, cost = entry(counter, -1)
    redis.call('LSET', counter.key, -1, pack_struct('<ddI4', time, before, cost + permits))
  else
    redis.call('RPUSH', counter.key, pack_struct('<ddI4', now, counter.total, permits))
    counter.length, counter.last = counter.length + 1, now
  end
  counter.total = counter.total + permits
  local gone = math.min(first_after(counter, now - counter.longest), PRUNED_AT_ONCE)
  if gone > 0 then
    redis.call('LPOP', counter.key, gone)
    counter.length = counter.length - gone
  end
  keep(counter)
end

local function give_back(counter, permits, since)
  local index = first_after(counter, since - 1)
  local behind = counter.length - index - 1
  if behind < 0 or behind > DEEPEST_GIVE_BACK then
    return
  end
  local entries = redis.call('LRANGE', counter.key, index, -1)
  local time, before, cost = unpack_struct('<ddI4', entries[1])
  if time ~= since then
    return
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
end

-- The entries that say all there is to say now: per quota the oldest in its window, the one whose leaving makes room for one
-- permit more and, if the request was refused, the one whose leaving makes room for it; and the two newest. The same
-- arithmetic on these gives the same answers as on the whole log.
local function tell(counter, wanted, now)
  if counter.length == 0 then
    return ''
  end
  local told = table.concat(redis.call('LRANGE', counter.key, -2, -1))
  for i = 1, #counter do
    local permits = counter[i].permits
    local held, oldest, before = used(counter, counter[i].window, now)
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

local function save()
end
