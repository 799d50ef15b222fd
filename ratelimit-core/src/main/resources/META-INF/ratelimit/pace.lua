-- The arithmetic of a quota that scripts share, see Pace.java. Comes before all else.

local floor = math.floor

-- How many permits come back in a time, at most the burst: Pace.permitsIn.
local function permits_in(micros, rest, permits, window, burst, whole, part)
  if micros < 0 then
    return 0
  end
  local back = floor(micros * permits / window)
  if back > burst then
    back = burst
  end
  while back > 0 do
    local needed = back * whole + floor(back * part / permits)
    if needed < micros or (needed == micros and back * part % permits <= rest) then
      break
    end
    back = back - 1
  end
  while back < burst do
    local needed = (back + 1) * whole + floor((back + 1) * part / permits)
    if needed > micros or (needed == micros and (back + 1) * part % permits > rest) then
      break
    end
    back = back + 1
  end
  return back
end

