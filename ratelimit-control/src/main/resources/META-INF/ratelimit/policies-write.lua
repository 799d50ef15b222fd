-- Writes records of the control plane, all or none, and tells all instances.
-- KEYS  1 meta: hash with the store's id and revision; 2 versions: hash of record to its newest version; 3 heads: hash of
--       record to its newest text; 4 order: sorted set of records by revision; then the history of each record: list of
--       texts, the newest first
-- ARGV  1 channel; 2 type of the signal; 3 id for a store that has none; 4 new id of the store, or empty; 5 lowest revision
--       to continue from; 6 name of the store that the writer has read, or empty; 7 revision that the writer has read;
--       8 how many versions of a record are kept; 9 version that new records must exceed; then for each record its name,
--       the version it must have or nothing, 0 for its next version or the version it is restored with, d if it is deleted
--       or w, its body, actor, time in milliseconds or nothing for now, and reason
-- Returns 1, the time in milliseconds, the revision of the first record, and the versions; or 0, the version that was
-- expected and the newest one; or 2 if the store has lost what the writer has read, or a part of it, as by eviction. With 0
-- and 2 nothing is written. A store that is given an id begins anew if a part of it is gone. A record that the store does not
-- have begins above all versions that the store has forgotten, so that its numbers do not go back. Versions and revisions
-- count writes and times need 41 bits: all stay below 2^53.

local meta, versions, heads, order = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local count = #KEYS - 4
local restoring = ARGV[4] ~= ''

local known = redis.call('HMGET', meta, 'id', 'revision', 'forgotten-version')
local id, revision = known[1], known[2]
local forgotten = math.max(tonumber(known[3] or 0), tonumber(ARGV[9]))
local records = redis.call('HLEN', heads)
if records ~= redis.call('HLEN', versions) or records ~= redis.call('ZCARD', order) or not revision and records > 0 then
  if not restoring then
    return { 2 }
  end
  redis.call('UNLINK', versions, heads, order)
end
if ARGV[6] ~= '' and not (id and string.find(id, ARGV[6], 1, true) and tonumber(revision or 0) >= tonumber(ARGV[7])) then
  return { 2 }
end

local names = {}
for i = 1, count do
  names[i] = ARGV[2 + i * 8]
end
local newest = count > 0 and redis.call('HMGET', versions, unpack(names)) or {}
local current = restoring and count > 0 and redis.call('HMGET', heads, unpack(names)) or {}
for i = 1, count do
  newest[i] = tonumber(newest[i] or 0)
  local expected = ARGV[3 + i * 8]
  if expected ~= '' and tonumber(expected) ~= newest[i] then
    return { 0, tonumber(expected), newest[i] }
  end
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
revision = math.max(tonumber(revision or 0), tonumber(ARGV[5]))
local reply = { 1, now, revision + 1 }
if restoring then
  redis.call('HSET', meta, 'id', ARGV[4])
else
  redis.call('HSETNX', meta, 'id', ARGV[3])
end
redis.call('HSET', meta, 'revision', revision + count, 'forgotten-version', string.format('%.0f', forgotten))

local function text(at, version, revision)
  local body, actor = ARGV[at + 4], ARGV[at + 5]
  local written = ARGV[at + 6] ~= '' and ARGV[at + 6] or string.format('%.0f', now)
  return string.format('%.0f %.0f %s %s %d %d\n', version, revision, written, ARGV[at + 3], #body, #actor) .. body .. actor
      .. ARGV[at + 7]
end

local function without_revision(text)
  return (string.gsub(text, '^(%d+) %d+ ', '%1 ', 1))
end

-- Few commands with many arguments: each costs Redis as much as several arguments.
local numbers, texts, places = {}, {}, {}
for i = 1, count do
  local at = 2 + i * 8
  local given = tonumber(ARGV[at + 2])
  local version = given > newest[i] and given or (newest[i] > 0 and newest[i] or forgotten) + 1
  if given == newest[i] and current[i] and without_revision(current[i]) == without_revision(text(at, given, 0)) then
    -- The store still has this version: only its revision changes.
    version = given
    redis.call('LPOP', KEYS[4 + i])
  end
  numbers[2 * i - 1], numbers[2 * i] = ARGV[at], version
  texts[2 * i - 1], texts[2 * i] = ARGV[at], text(at, version, revision + i)
  places[2 * i - 1], places[2 * i] = revision + i, ARGV[at]
  if redis.call('LPUSH', KEYS[4 + i], texts[2 * i]) > tonumber(ARGV[8]) then
    redis.call('LTRIM', KEYS[4 + i], 0, ARGV[8] - 1)
  end
  reply[3 + i] = version
end
if count > 0 then
  redis.call('HSET', versions, unpack(numbers))
  redis.call('HSET', heads, unpack(texts))
  redis.call('ZADD', order, unpack(places))
end
-- The write is done: an instance that misses the signal finds it by polling.
redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. string.format('%.0f', revision + count))
return reply
