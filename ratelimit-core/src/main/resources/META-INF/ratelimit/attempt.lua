-- Attempt: decides one request that may be sent again under the same id. The script of an algorithm comes in place of the line
-- that names it; what it is given and returns is said in frame.lua.
--
-- KEYS     those of the script, then the record of the request, on the same slot
-- ARGV     those of the script for one request that takes permits, then three little-endian doubles: how long a record counts in
--          milliseconds, how many attempts may hold it, and the permits of the request
-- Returns  what the script returns. If an earlier attempt took the permits, the script has only read, and the string begins with
--          byte 7, the time of the grant (double) and its permits (4 bytes) in place of byte 1
--
-- A record is 14 bytes: the time of the grant in microseconds (double), its permits (4 bytes) and how many attempts hold it
-- (2 bytes). Only grants are recorded. A foreign value counts as no record, and the next grant replaces it. Numbers are integers
-- below 2^53, see frame.lua.

local record, ttl, most_holders, cost = KEYS[#KEYS], struct.unpack('<ddd', ARGV[#ARGV])
KEYS[#KEYS], ARGV[#ARGV] = nil, nil

-- On a test's clock, which may stand still while Redis's own runs, records live for a day more.
local linger = ARGV[1] == '' and 0 or 86400000

local granted, permits, holders, replay
do
  local held = redis.call('MGET', record)[1]
  if held and #held == 14 then
    granted, permits, holders = struct.unpack('<dI4I2', held)
    local now = tonumber(ARGV[1])
    if not now then
      local time = redis.call('TIME')
      now = time[1] * 1000000 + time[2]
    end
    replay = math.abs(now - granted) < ttl * 1000 and holders < most_holders and permits >= cost
  end
  if replay then
    -- Form 1 with amounts of 0: only reads.
    ARGV[2] = string.sub(ARGV[2], 1, 2) .. '\1' .. string.sub(ARGV[2], 4)
    ARGV[3] = struct.pack('<dddd', 0, 0, 0, 0)
  end
end

local function decide()
-- <algorithm>
end

local reply = decide()
local told = reply[2]
local outcome = string.byte(told)
if replay and outcome ~= 2 then
  redis.call('SET', record, struct.pack('<dI4I2', granted, permits, holders + 1), 'KEEPTTL')
  reply[2] = '\7' .. struct.pack('<dI4', granted, permits) .. string.sub(told, 2)
elseif outcome == 1 or outcome == 4 then
  redis.call('SET', record, struct.pack('<dI4I2', reply[1], cost, 1), 'PX', string.format('%.0f', ttl + linger))
end
return reply
