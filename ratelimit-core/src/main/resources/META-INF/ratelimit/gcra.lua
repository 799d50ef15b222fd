-- GCRA: decides a list of requests in their order, each all-or-nothing over its counters, at one time. The algorithm of
-- almost everybody, so it is written for speed: flat, few tables, one MGET, nothing formatted twice. What it is given and
-- returns is what frame.lua says; a quota's state is its theoretical arrival time, as microseconds and a rest in 1/permits
-- of one.
-- Stored for one quota without a rest as an integer of 19 digits, 16 of the time and 3 of the window's tag, which Redis keeps
-- in 8 bytes; otherwise 14 bytes per quota: double time, 4-byte rest, 2-byte tag.
-- Numbers are integers below 2^53, see frame.lua.

local keys, arguments = KEYS, ARGV
local kinds, heads, amounts = arguments[2], arguments[3], arguments[4]
local call, unpack_struct, pack_struct = redis.call, struct.unpack, struct.pack
local byte, sub, format = string.byte, string.sub, string.format

-- A key outlives its state by a millisecond, because Redis compares expiry with a clock that it reads at another moment; by a
-- day on a test's clock, which may stand still while Redis's own runs.
local now, linger
if arguments[1] == '' then
  local time = call('TIME')
  now, linger = time[1] * 1000000 + time[2], 2
else
  now, linger = tonumber(arguments[1]), 86400001
end

-- A spec is its numbers, eight per quota, how many they are and, if it has one quota, its tag as text.
local specs = {}
for number = 5, #arguments do
  local text = arguments[number]
  local spec = { unpack_struct('<dddddddd', text) }
  for at = 65, #text, 64 do
    local last = (at - 1) / 8
    spec[last + 1], spec[last + 2], spec[last + 3], spec[last + 4], spec[last + 5], spec[last + 6], spec[last + 7],
      spec[last + 8] = unpack_struct('<dddddddd', text, at)
  end
  spec.size = #text / 8
  spec.tag = #text == 64 and format('%03d', spec[8])
  specs[number - 4] = spec
end

local count = #keys
local values = call('MGET', unpack(keys))
local parts, last

repeat
  -- Of each counter: its spec, where its quotas begin in times and rests, and its string as last read or told: false if it is
  -- a foreign one, nil if it has to be made anew. A rest of 0 is left out.
  local again, existing = false, false
  local spec_of, first, told, changed, times, rests = {}, {}, {}, {}, {}, {}
  local quotas = 0
  parts, last = {}, 0

  for counter = 1, count do
    local value, spec = values[counter], specs[byte(kinds, counter)]
    spec_of[counter], first[counter] = spec, quotas
    if not value then
      told[counter] = ''
      for _ = 8, spec.size, 8 do
        quotas = quotas + 1
        times[quotas] = now
      end
    else
      local length, state, sound, stored, own = #value, value, true, nil, nil
      if length == 19 then
        stored, own = tonumber(sub(value, 1, 16)), sub(value, 17)
        if not stored or (own ~= spec.tag and not tonumber(own)) then
          sound = false
        end
      elseif length == 0 or length % 14 ~= 0 then
        sound = false
      end
      for at = 8, spec.size, 8 do
        quotas = quotas + 1
        local time, rest = now, 0
        if stored then
          if own == spec.tag or tonumber(own) == spec[at] then
            time = stored
          end
        elseif sound then
          for from = 1, length, 14 do
            local block, block_rest, tag = unpack_struct('<dI4I2', value, from)
            if not (block >= 0 and block < 9007199254740992) then
              sound = false
            elseif tag == spec[at] then
              time, rest = block, block_rest
            end
          end
        end
        local full, full_rest = spec[at - 2], spec[at - 1]
        if time < now then
          time, rest = now, 0
        elseif time - now > 2 * (full_rest > 0 and full + 1 or full) then
          time, rest = now + full, full_rest
          changed[counter], existing, state = true, true, nil
        elseif rest >= spec[at - 7] then
          time, rest = time + 1, 0
        end
        times[quotas] = time
        if rest ~= 0 then
          rests[quotas] = rest
        end
      end
      told[counter] = sound and state
    end
  end

  local head, amount = 1, 1
  while head < #heads do
    local members, form = byte(heads, head, head + 1)
    local final = head + 1 + members
    local unit, least, most, since = 1, 1, 1, 0
    if form == 1 then
      unit, least, most, since, amount = unpack_struct('<dddd', amounts, amount)
    end
    local taken = most
    for member = head + 2, final do
      local counter = byte(heads, member)
      if told[counter] == false then
        taken = -1
        break
      elseif since == 0 and taken > 0 then
        local spec, quota = spec_of[counter], first[counter]
        for at = 8, spec.size, 8 do
          quota = quota + 1
          local micros, whole = spec[at - 2] - times[quota] + now, spec[at - 4]
          -- As a rule there is more than enough; otherwise it is worked out exactly.
          if taken * (whole + 1) >= micros then
            local rest = spec[at - 1] - (rests[quota] or 0)
            if rest < 0 then
              micros, rest = micros - 1, rest + spec[at - 7]
            end
            local available = permits_in(micros, rest, spec[at - 7], spec[at - 6], spec[at - 5], whole, spec[at - 3])
            if available < taken then
              taken = available
            end
          end
        end
      end
    end
    local sign = 0
    if since > 0 then
      sign = taken < 0 and 0 or -1
    elseif taken > 0 then
      taken = taken - taken % unit
      if taken < least then
        taken = 0
      else
        sign = 1
      end
    end
    last = last + 1
    if taken < 0 then
      parts[last] = '\2'
    elseif taken == most then
      parts[last] = '\1'
    elseif taken == 0 then
      parts[last] = '\0'
    else
      parts[last] = '\3' .. pack_struct('<d', taken)
    end
    if taken >= 0 then
      for member = head + 2, final do
        local counter = byte(heads, member)
        local state = told[counter]
        if sign ~= 0 or not state then
          local spec, quota = spec_of[counter], first[counter]
          local size = spec.size
          if sign ~= 0 then
            changed[counter], existing = true, existing or values[counter]
            for at = 8, size, 8 do
              quota = quota + 1
              local permits, whole, part = spec[at - 7], spec[at - 4], spec[at - 3]
              local time, rest = times[quota], rests[quota] or 0
              if sign > 0 then
                time = time + taken * whole
                if part ~= 0 then
                  time, rest = time + floor(taken * part / permits), rest + taken * part % permits
                end
                if rest >= permits then
                  time, rest = time + 1, rest - permits
                end
              elseif now - since <= (spec[at - 1] > 0 and spec[at - 2] + 1 or spec[at - 2]) then
                time, rest = time - most * whole - floor(most * part / permits), rest - most * part % permits
                if rest < 0 then
                  time, rest = time - 1, rest + permits
                end
                if time < now then
                  time, rest = now, 0
                end
              end
              times[quota] = time
              rests[quota] = rest ~= 0 and rest or nil
            end
          end
          quota = first[counter] + 1
          if size == 8 and not rests[quota] then
            state = format('%016d', times[quota]) .. spec.tag
          else
            state = ''
            for at = 8, size, 8 do
              state = state .. pack_struct('<dI4I2', times[quota], rests[quota] or 0, spec[at])
              quota = quota + 1
            end
          end
          told[counter] = state
        end
        parts[last + 1] = #state == 19 and '\19\0' or pack_struct('<I2', #state)
        parts[last + 2] = state
        last = last + 2
      end
    end
    head = final + 1
  end

  -- Counters that were not there are written first. One that is there after all is no string, which MGET does not tell from
  -- nothing, and SET … GET refuses to replace it: then what was written is taken back and all is decided anew.
  local expiry, expiry_text
  for turn = 1, existing and 2 * count or count do
    local counter = turn > count and turn - count or turn
    local fresh, state = turn <= count, told[counter]
    if changed[counter] and state and fresh == not values[counter] then
      local quota, longest = first[counter], 0
      for _ = 8, spec_of[counter].size, 8 do
        quota = quota + 1
        if times[quota] > longest then
          longest = times[quota]
        end
      end
      local millis = floor((longest - now) / 1000) + linger
      if millis ~= expiry then
        expiry, expiry_text = millis, format('%d', millis)
      end
      if not fresh then
        call('SET', keys[counter], state, 'PX', expiry_text)
      else
        local replaced = redis.pcall('SET', keys[counter], state, 'PX', expiry_text, 'GET')
        if replaced and not string.find(replaced.err, 'WRONGTYPE', 1, true) then
          return replaced
        end
        again = replaced
      end
      if again then
        for other = 1, counter - 1 do
          if changed[other] and not values[other] then
            call('DEL', keys[other])
          end
        end
        values[counter] = 'foreign'
        break
      end
    end
  end
until not again
return { now, table.concat(parts) }
