-- Settle: comes before the script of an algorithm and lets it act at most once. What the script does then is said in frame.lua.
--
-- KEYS     those of the script, then perhaps the record of the request, see attempt.lua, then the marker, all on the same slot
-- ARGV     those of the script, then two or three little-endian doubles: the last time at which the script may act; the last time
--          at which another instance may begin to settle the same, 0 if there is none; and, if there is a record, the time of the
--          grant whose record is deleted because nothing remains charged; all in microseconds
-- Returns  the time and, if the script must not act, one byte: 5 the marker is there, 6 it is too late. Otherwise what the script
--          returns
--
-- The marker lives for 60 s after the last time at which an attempt may begin. An attempt acts for at most 30 s after it began,
-- so no attempt can act without finding the marker of an earlier one. Numbers are integers below 2^53, see frame.lua.

do
  local marker, times = KEYS[#KEYS], ARGV[#ARGV]
  local last, until_time = struct.unpack('<dd', times)
  KEYS[#KEYS], ARGV[#ARGV] = nil, nil
  local record
  if #times == 24 then
    record, KEYS[#KEYS] = KEYS[#KEYS], nil
  end
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
  if record then
    local held = redis.call('MGET', record)[1]
    if held and #held == 14 and string.sub(held, 1, 8) == string.sub(times, 17) then
      redis.call('DEL', record)
    end
  end
end
