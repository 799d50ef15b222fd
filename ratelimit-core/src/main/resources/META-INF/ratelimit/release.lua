-- Release: comes before the script of an algorithm that gives back what a recorded grant took, and lets it act only if no other
-- attempt holds the record. What the script does then is said in frame.lua.
--
-- KEYS     those of the script, then the record, on the same slot
-- ARGV     those of the script, then two little-endian doubles: the time of the grant in microseconds, and the permits that leave
--          the record; 0 if the attempt gives back all and ends its hold
-- Returns  the time of the grant and an empty string if the script must not act: the record is gone or is that of another grant,
--          or other attempts hold it too. Otherwise what the script returns
--
-- A record is described in attempt.lua.

do
  local record, expected, part = KEYS[#KEYS], struct.unpack('<dd', ARGV[#ARGV])
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
    if part == 0 then
      redis.call('SET', record, struct.pack('<dI4I2', granted, permits, holders - 1), 'KEEPTTL')
    end
    return { expected, '' }
  end
  if part > 0 then
    -- Another attempt that comes later must not give back this part again.
    redis.call('SET', record, struct.pack('<dI4I2', granted, math.max(0, permits - part), holders), 'KEEPTTL')
  else
    redis.call('DEL', record)
  end
end
