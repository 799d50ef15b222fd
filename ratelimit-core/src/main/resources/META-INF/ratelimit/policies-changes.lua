-- Reads records of the control plane that were written after a revision, as they are now.
-- KEYS  1 meta: hash with the store's id and revision; 2 order: sorted set of records by revision; 3 heads: hash of record
--       to its newest text
-- ARGV  1 revision; 2 how many at most; 3 bytes after which it is enough
-- Returns the id, the revision, and names and texts in turn, by revision. A revision counts writes and stays below 2^53.

local meta = redis.call('HMGET', KEYS[1], 'id', 'revision')
local names = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])
local found, bytes = {}, 0
for i = 1, #names do
  local text = redis.call('HGET', KEYS[3], names[i])
  found[2 * i - 1] = names[i]
  found[2 * i] = text
  bytes = bytes + #text
  if bytes >= tonumber(ARGV[3]) then
    break
  end
end
return { meta[1] or '', tonumber(meta[2] or 0), found }
