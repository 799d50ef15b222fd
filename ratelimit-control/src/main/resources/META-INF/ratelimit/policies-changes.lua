-- Reads records of the control plane that were written after a revision, as they are now.
-- KEYS  1 meta: hash with the store's id and revision, and of what it has forgotten the highest revision and version; 2
--       order: sorted set of records by revision; 3 heads: hash of record to its newest text; 4 versions: hash of record to
--       its newest version
-- ARGV  1 revision; 2 how many at most; 3 bytes after which it is enough
-- Returns the id, or "damaged" if a part of the store is gone, as by eviction; the revision; names and texts in turn, by
-- revision; and the highest revision and version that the store has forgotten. A revision counts writes and stays below 2^53.

local meta = redis.call('HMGET', KEYS[1], 'id', 'revision', 'forgotten-revision', 'forgotten-version')
local records = redis.call('HLEN', KEYS[3])
local whole = records == redis.call('ZCARD', KEYS[2]) and records == redis.call('HLEN', KEYS[4])
    and (meta[2] or records == 0)
local names = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])
local found, bytes = {}, 0
for first = 1, #names, 50 do
  local texts = redis.call('HMGET', KEYS[3], unpack(names, first, math.min(first + 49, #names)))
  for i = 1, #texts do
    if texts[i] then
      found[#found + 1] = names[first + i - 1]
      found[#found + 1] = texts[i]
      bytes = bytes + #texts[i]
    end
  end
  if bytes >= tonumber(ARGV[3]) then
    break
  end
end
return { whole and (meta[1] or '') or 'damaged', tonumber(meta[2] or 0), found, tonumber(meta[3] or 0),
  tonumber(meta[4] or 0) }
