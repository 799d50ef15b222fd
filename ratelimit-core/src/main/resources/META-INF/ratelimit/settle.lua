-- Settle: comes before the script of an algorithm and lets it act at most once. What the script does then is said in frame.lua.
--
-- KEYS     those of the script, then the marker, on the same slot
-- ARGV     those of the script, then two little-endian doubles: the last time at which the script may act, and the last time at
--          which another instance may begin to settle the same, 0 if there is none; both in microseconds
-- Returns  the time and, if the script must not act, one byte: 5 the marker is there, 6 it is too late. Otherwise what the script
--          returns
--
-- The marker lives for 60 s after the last time at which an attempt may begin. An attempt acts for at most 30 s after it began,
-- so no attempt can act without finding the marker of an earlier one. Numbers are integers below 2^53, see frame.lua.

do
  local marker, last, until_time = KEYS[#KEYS], struct.unpack('<dd', ARGV[#ARGV])
  KEYS[#KEYS], ARGV[#ARGV] = nil, nil
  local now = tonumber(ARGV[1])
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  if now > last then
    return { now, '\6' }
  end
  local lives = 60000 + math.ceil(math.max(0, until_time - now) / 1000)
  if not redis.call('SET', marker, '1', 'NX', 'PX', string.format('%.0f', lives)) then
    return { now, '\5' }
  end
end
