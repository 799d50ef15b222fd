-- Adds what an instance was asked for in the last second and has refused in the last minute, and reads what the whole
-- fleet was and has, and the marks.
-- KEYS  1 to 3 rates: sorted set of counter by checks per second, one for each second in turn; 4 to 6 refusals: the same
--       by refusals; 7 marks: hash of key to the time it ends, on a line, and its text
-- ARGV  1 second that this instance sent last; 2 how many to read; 3 how many rates follow; then rate and counter in
--       turn, and refusals and counter in turn
-- Returns the second; the microseconds in it; counters and rates of the second before, most first, as one list; counters
-- and refusals in the same way; and milliseconds left, key and text of each mark, as one list. Rates and refusals are
-- whole numbers; the sum of 2^20 instances' stays below 2^53. Times are whole milliseconds since 1970 and need 41 bits.

local time = redis.call('TIME')
local second, micros = tonumber(time[1]), tonumber(time[2])
local now = second * 1000 + math.floor(micros / 1000)
local current, before, marks = second % 3 + 1, (second - 1) % 3 + 1, KEYS[7]

local function add(key, first, last)
  for i = first, last, 2 do
    redis.call('ZINCRBY', key, ARGV[i], ARGV[i + 1])
  end
  if last > first then
    -- Gone before its turn comes again.
    redis.call('PEXPIRE', key, 2000 - math.floor(micros / 1000))
  end
end

-- Whoever comes twice in a second counts once.
if tonumber(ARGV[1]) ~= second then
  local rates = 3 + 2 * ARGV[3]
  add(KEYS[current], 4, rates)
  add(KEYS[3 + current], rates + 1, #ARGV)
end

local rates = redis.call('ZREVRANGE', KEYS[before], 0, ARGV[2] - 1, 'WITHSCORES')
local refusals = redis.call('ZREVRANGE', KEYS[3 + before], 0, ARGV[2] - 1, 'WITHSCORES')

local held = {}
local all = redis.call('HGETALL', marks)
for i = 1, #all, 2 do
  local ends, text = string.match(all[i + 1], '^(%d+)\n(.*)$')
  local left = (tonumber(ends) or 0) - now
  if left > 0 then
    held[#held + 1] = left
    held[#held + 1] = all[i]
    held[#held + 1] = text
  else
    redis.call('HDEL', marks, all[i])
  end
end
return { second, micros, rates, refusals, held }
