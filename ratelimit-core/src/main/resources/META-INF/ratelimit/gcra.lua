-- GCRA: decides a list of requests in their order, each all-or-nothing over its counters, at one time. The algorithm of
-- almost everybody, so it is written for speed: flat, few tables, one MGET, nothing formatted twice. What it is given and
-- returns is what frame.lua says. Token buckets are counted by it too: how long a bucket takes to be full again says the same
-- as its tokens.
-- The state of a window is its theoretical arrival time, as microseconds and a rest in 1/100,000,000 of one; of a quota the rest
-- is in 1/permits. Callers with different quotas share the state of a window; windows that no request of this call has are kept.
-- Stored for one window without a rest as an integer of 19 digits, 16 of the time and 3 of the window's tag, which Redis keeps
-- in 8 bytes; otherwise 14 bytes per window: double time, 4-byte rest, 2-byte tag.
-- A spec is nine numbers per quota: permits, window, burst, whole, part, full, full's rest, tag, and the longest time that a quota
-- of this window takes to be full; see Pace.java.
-- Numbers are integers below 2^53, see frame.lua.

local keys, arguments = KEYS, ARGV
local places, heads, amounts = arguments[2], arguments[3], arguments[4]
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

-- A spec is its numbers, nine per quota, how many they are and, if it has one quota, its tag as text.
local specs = {}
for number = 5, #arguments do
  local text = arguments[number]
  local spec = { unpack_struct('<ddddddddd', text) }
  for at = 73, #text, 72 do
    local last = (at - 1) / 8
    spec[last + 1], spec[last + 2], spec[last + 3], spec[last + 4], spec[last + 5], spec[last + 6], spec[last + 7],
      spec[last + 8], spec[last + 9] = unpack_struct('<ddddddddd', text, at)
  end
  spec.size = #text / 8
  spec.tag = #text == 72 and format('%03d', spec[8])
  specs[number - 4] = spec
end

local count = #keys
local values = call('MGET', unpack(keys))
local parts, last

repeat
  -- A place is a counter under a spec, as a request names it. Of each place: its spec, and where its quotas begin. Quotas are
  -- numbered through; the state of each is in times and rests under its number. A rest of 0 is left out.
  -- Of each counter: its string as last read or told, false if it is a foreign one, nil if it has to be made anew.
  -- As a rule each counter has one place, which has its number, and all its windows. What is nil then: the counter of each
  -- place, the first place of each counter, the number under which the state of a quota is if an earlier place has the window too,
  -- windows that later places of a counter add (number and tag), and those that no place has (as stored).
  local again, existing = false, false
  local spec_of, first, told, changed, times, rests = {}, {}, {}, {}, {}, {}
  local counter_of, leading, same, added, others
  local quotas = 0
  parts, last = {}, 0

  local join
  if #places > 2 * count then
    counter_of, leading, same, added = {}, {}, {}, {}

    -- Takes the block of a tag out of the windows that no place had so far.
    local function claim(counter, tag)
      local blocks = others and others[counter]
      for from = 1, blocks and #blocks or 0, 14 do
        local time, rest, own = unpack_struct('<dI4I2', blocks, from)
        if own == tag then
          blocks = sub(blocks, 1, from - 1) .. sub(blocks, from + 14)
          others[counter] = blocks ~= '' and blocks or nil
          return time, rest
        end
      end
      return now, 0
    end

    -- The number under which the counter has the state of a window, nil if no place has had it so far.
    local function known(counter, tag)
      local lead = leading[counter]
      for at = 9, spec_of[lead].size, 9 do
        if spec_of[lead][at - 1] == tag then
          return first[lead] + at / 9
        end
      end
      local slots = added[counter]
      for i = 1, slots and #slots or 0, 2 do
        if slots[i + 1] == tag then
          return slots[i]
        end
      end
    end

    -- Opens another place of a counter.
    join = function(counter, spec)
      for at = 9, spec.size, 9 do
        quotas = quotas + 1
        local quota = known(counter, spec[at - 1])
        if quota then
          same[quotas] = quota
        else
          local slots = added[counter] or {}
          added[counter], quota = slots, quotas
          slots[#slots + 1], slots[#slots + 2] = quota, spec[at - 1]
          times[quota], rests[quota] = claim(counter, spec[at - 1])
          if rests[quota] == 0 then
            rests[quota] = nil
          end
        end
        if times[quota] - now > 2 * spec[at] then
          times[quota], rests[quota] = now + spec[at], nil
          changed[counter], existing = true, existing or values[counter]
          told[counter] = told[counter] and nil
        end
      end
    end
  end

  for place = 1, #places / 2 do
    local counter, kind = byte(places, 2 * place - 1, 2 * place)
    local spec, value = specs[kind], values[counter]
    spec_of[place], first[place] = spec, quotas
    local joined = leading and leading[counter]
    if leading then
      counter_of[place], leading[counter] = counter, joined or place
    end
    if joined then
      join(counter, spec)
    elseif not value then
      told[counter] = ''
      for _ = 9, spec.size, 9 do
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
      local found = 0
      for at = 9, spec.size, 9 do
        quotas = quotas + 1
        local time, rest = now, 0
        if stored then
          if own == spec.tag or tonumber(own) == spec[at - 1] then
            time, found = stored, 1
          end
        elseif sound then
          for from = 1, length, 14 do
            local block, block_rest, tag = unpack_struct('<dI4I2', value, from)
            if not (block >= 0 and block < 9007199254740992) then
              sound = false
            elseif tag == spec[at - 1] then
              time, rest, found = block, block_rest, found + 1
            end
          end
        end
        if time < now then
          time, rest = now, 0
        elseif time - now > 2 * spec[at] then
          time, rest = now + spec[at], 0
          changed[counter], existing, state = true, true, nil
        end
        times[quotas] = time
        if rest ~= 0 then
          rests[quotas] = rest
        end
      end
      if sound and stored and found == 0 and stored > now then
        others = others or {}
        others[counter] = pack_struct('<dI4I2', stored, 0, tonumber(own))
      elseif sound and not stored and found < length / 14 then
        local blocks = ''
        for from = 1, length, 14 do
          local time, _, tag = unpack_struct('<dI4I2', value, from)
          local known = time <= now
          for at = 9, spec.size, 9 do
            known = known or tag == spec[at - 1]
          end
          blocks = known and blocks or blocks .. sub(value, from, from + 13)
        end
        if blocks ~= '' then
          others = others or {}
          others[counter] = blocks
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
      local place = byte(heads, member)
      if told[counter_of and counter_of[place] or place] == false then
        taken = -1
        break
      elseif since == 0 and taken > 0 then
        local spec, number = spec_of[place], first[place]
        for at = 9, spec.size, 9 do
          number = number + 1
          local quota = same and same[number] or number
          local micros, whole = spec[at - 3] - times[quota] + now, spec[at - 5]
          -- As a rule there is more than enough; otherwise it is worked out exactly.
          if taken * (whole + 1) >= micros then
            local permits = spec[at - 8]
            local rest = spec[at - 2]
            if rests[quota] then
              rest = rest - floor(rests[quota] * permits / 100000000)
            end
            if rest < 0 then
              micros, rest = micros - 1, rest + permits
            end
            local available = permits_in(micros, rest, permits, spec[at - 7], spec[at - 6], whole, spec[at - 4])
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
        local place = byte(heads, member)
        local counter = counter_of and counter_of[place] or place
        local state = told[counter]
        if sign ~= 0 or not state then
          local spec, number = spec_of[place], first[place]
          if sign ~= 0 then
            changed[counter], existing = true, existing or values[counter]
            for at = 9, spec.size, 9 do
              number = number + 1
              local quota = same and same[number] or number
              local permits, whole, part = spec[at - 8], spec[at - 5], spec[at - 4]
              local time, rest = times[quota], nil
              if sign > 0 then
                time = time + taken * whole
                if part ~= 0 then
                  time, rest = time + floor(taken * part / permits), taken * part % permits
                end
              elseif now - since <= (spec[at - 2] > 0 and spec[at - 3] + 1 or spec[at - 3]) then
                time = time - most * whole
                if part ~= 0 then
                  time, rest = time - floor(most * part / permits), -(most * part % permits)
                end
              end
              if rest then
                local stored = rests[quota]
                if stored then
                  rest = rest + floor(stored * permits / 100000000)
                end
                if rest >= permits then
                  time, rest = time + 1, rest - permits
                elseif rest < 0 then
                  time, rest = time - 1, rest + permits
                end
                rests[quota] = rest ~= 0 and -floor(-rest * 100000000 / permits) or nil
              end
              if time < now then
                time, rests[quota] = now, nil
              end
              times[quota] = time
            end
          end
          local lead = leading and leading[counter] or counter
          local lead_spec, quota = spec_of[lead], first[lead] + 1
          local slots, blocks = added and added[counter], others and others[counter]
          if lead_spec.size == 9 and not rests[quota] and not slots and not blocks then
            state = format('%016d', times[quota]) .. lead_spec.tag
          else
            state = blocks or ''
            for at = 9, lead_spec.size, 9 do
              state = state .. pack_struct('<dI4I2', times[quota], rests[quota] or 0, lead_spec[at - 1])
              quota = quota + 1
            end
            for i = 1, slots and #slots or 0, 2 do
              state = state .. pack_struct('<dI4I2', times[slots[i]], rests[slots[i]] or 0, slots[i + 1])
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
      local lead = leading and leading[counter] or counter
      local quota, longest = first[lead], 0
      for _ = 9, spec_of[lead].size, 9 do
        quota = quota + 1
        if times[quota] > longest then
          longest = times[quota]
        end
      end
      local slots, blocks = added and added[counter], others and others[counter]
      for i = 1, slots and #slots or 0, 2 do
        longest = math.max(longest, times[slots[i]])
      end
      for from = 1, blocks and #blocks or 0, 14 do
        longest = math.max(longest, (unpack_struct('<d', blocks, from)))
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
