-- Removes deleted records of the control plane, with their history.
-- KEYS  1 meta: hash with the store's id and revision, and of what it has forgotten the highest revision and version; 2
--       versions: hash of record to its newest version; 3 heads: hash of record to its newest text; 4 order: sorted set of
--       records by revision; then the history of each record
-- ARGV  1 name of the store that the caller has read; 2 revision that the caller has read; then for each record its name and
--       the revision of its deletion
-- Returns how many were removed, or -1 if the store has lost what the caller has read. A record that is not deleted with this
-- revision stays. Versions and revisions count writes and stay below 2^53.

local meta, versions, heads, order = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local known = redis.call('HMGET', meta, 'id', 'revision', 'forgotten-revision', 'forgotten-version')
local id, revision = known[1], tonumber(known[2] or 0)
local records = redis.call('HLEN', heads)
if records ~= redis.call('HLEN', versions) or records ~= redis.call('ZCARD', order)
    or not (id and string.find(id, ARGV[1], 1, true) and revision >= tonumber(ARGV[2])) then
  return { -1 }
end

local forgotten_revision, forgotten_version = tonumber(known[3] or 0), tonumber(known[4] or 0)
local names, histories = {}, {}
for i = 1, #KEYS - 4 do
  local name, deleted = ARGV[1 + i * 2], tonumber(ARGV[2 + i * 2])
  -- A record that was written again may be large: only one that is still at this place is read.
  local text = tonumber(redis.call('ZSCORE', order, name) or 0) == deleted and redis.call('HMGET', heads, name)[1]
  local version = text and string.match(text, '^(%d+) %d+ %-?%d+ d ')
  if version then
    names[#names + 1], histories[#histories + 1] = name, KEYS[4 + i]
    forgotten_revision = math.max(forgotten_revision, deleted)
    forgotten_version = math.max(forgotten_version, tonumber(version))
  end
end
if #names > 0 then
  redis.call('HDEL', versions, unpack(names))
  redis.call('HDEL', heads, unpack(names))
  redis.call('ZREM', order, unpack(names))
  redis.call('UNLINK', unpack(histories))
  redis.call('HSET', meta, 'forgotten-revision', string.format('%.0f', forgotten_revision), 'forgotten-version',
    string.format('%.0f', forgotten_version))
end
return { #names }
