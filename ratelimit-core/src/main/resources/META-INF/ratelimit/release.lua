-- Release: comes before the script of an algorithm that gives back what a recorded grant took, and lets it act only for the last
-- attempt that holds the record. What the script does then is said in frame.lua.
--
-- KEYS     those of the script, then the record, on the same slot
-- ARGV     those of the script, then one little-endian double: the time of the grant, in microseconds
-- Returns  the time of the grant and an empty string if the script must not act: the record is gone or is that of another grant,
--          or other attempts hold it too. Otherwise what the script returns
--
-- A record is described in attempt.lua.

do
  local record, expected = KEYS[#KEYS], struct.unpack('<d', ARGV[#ARGV])
  KEYS[#KEYS], ARGV[#ARGV] = nil, nil
  local held = redis.call('MGET', record)[1]
  local granted, permits, holders
  if held and #held == 14 then
    granted, permits, holders = struct.unpack('<dI4I2', held)
  end
  if granted ~= expected then
    return { expected, '' }
  end
  if holders > 1 then
    redis.call('SET', record, struct.pack('<dI4I2', granted, permits, holders - 1), 'KEEPTTL')
    return { expected, '' }
  end
  redis.call('DEL', record)
end
