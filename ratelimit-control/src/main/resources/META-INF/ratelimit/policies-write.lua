-- Writes records of the control plane, all or none, and tells all instances.
-- KEYS  1 meta: hash with the store's id and revision; 2 versions: hash of record to its newest version; 3 heads: hash of
--       record to its newest text; 4 order: sorted set of records by revision; then the history of each record: list of
--       texts, the newest first
-- ARGV  1 channel; 2 type of the signal; 3 id for a store that has none; 4 id for this store, or empty; 5 lowest revision
--       to go on from; 6 actor; 7 reason; then for each record its name, the version it must have or nothing, the
--       lowest version to go on from, d if it is deleted or w, and its body
-- Returns 1, the time in milliseconds, the revision of the first record, and the versions; or 0, the version that was
-- expected and the newest one, and then nothing is written; or 2 if a part of the store is gone, as by eviction, and
-- nothing is written either, unless the store is given an id: then it begins anew. Versions and revisions count writes and times need 41 bits:
-- all stay below 2^53.

local meta, versions, heads, order = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local count = #KEYS - 4

local revision = redis.call('HGET', meta, 'revision')
local records = redis.call('HLEN', heads)
if records ~= redis.call('HLEN', versions) or records ~= redis.call('ZCARD', order) or not revision and records > 0 then
  if ARGV[4] == '' then
    return { 2 }
  end
  redis.call('UNLINK', versions, heads, order)
end

local names = {}
for i = 1, count do
  names[i] = ARGV[3 + i * 5]
end
local newest = count > 0 and redis.call('HMGET', versions, unpack(names)) or {}
for i = 1, count do
  newest[i] = tonumber(newest[i] or 0)
  local expected = ARGV[4 + i * 5]
  if expected ~= '' and tonumber(expected) ~= newest[i] then
    return { 0, tonumber(expected), newest[i] }
  end
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
revision = math.max(tonumber(revision or 0), tonumber(ARGV[5]))
local reply = { 1, now, revision + 1 }
if ARGV[4] ~= '' then
  redis.call('HSET', meta, 'id', ARGV[4])
else
  redis.call('HSETNX', meta, 'id', ARGV[3])
end
redis.call('HSET', meta, 'revision', revision + count)

-- Few commands with many arguments: each costs Redis as much as several arguments.
local numbers, texts, places = {}, {}, {}
local ending = ARGV[6] .. ARGV[7]
for i = 1, count do
  local at = 3 + i * 5
  local name, body = ARGV[at], ARGV[at + 4]
  local version = math.max(newest[i], tonumber(ARGV[at + 2])) + 1
  local text = string.format('%.0f %.0f %.0f %s %d %d\n', version, revision + i, now, ARGV[at + 3], #body, #ARGV[6])
      .. body .. ending
  numbers[2 * i - 1], numbers[2 * i] = name, version
  texts[2 * i - 1], texts[2 * i] = name, text
  places[2 * i - 1], places[2 * i] = revision + i, name
  redis.call('LPUSH', KEYS[4 + i], text)
  reply[3 + i] = version
end
if count > 0 then
  redis.call('HSET', versions, unpack(numbers))
  redis.call('HSET', heads, unpack(texts))
  redis.call('ZADD', order, unpack(places))
end
-- The write is done: who is not told finds it by asking.
redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. string.format('%.0f', revision + count))
return reply
