-- GCRA: decides a list of requests in their order, each all-or-nothing over its counters, at one time. The algorithm of
-- almost everybody, so it is written for speed. What it is given and returns is what frame.lua says. Token buckets are counted
-- by it too: how long a bucket takes to be full again says the same as its tokens.
-- The state of a window is its theoretical arrival time, as microseconds and a rest in 1/100,000,000 of one; of a quota the rest
-- is in 1/permits. Callers with different quotas share the state of a window; windows that no request of this call has are kept.
-- A spec is nine numbers per quota: permits, window, burst, whole, part, full, full's rest, tag, and the longest time that a quota
-- of this window takes to be full; see Pace.java.
-- A counter is one string: the time of each window (double), the rest of each (4 bytes) if a quota has rests, the tag of each
-- (2 bytes) and the expiry of the key (2 bytes); one byte more if there are rests, so that the length tells both forms apart.
-- The expiry is in milliseconds modulo 65,536. It is 1 to 10,000 ms after the latest time in the string, so it is unambiguous. As
-- long as it covers the new state, a write leaves it alone: setting it costs Redis as much as the write itself. Every writer reads
-- the true expiry, so it does not matter how far ahead another one has set it.
-- Numbers are integers below 2^53, see frame.lua.

local keys, arguments = KEYS, ARGV
local runs, amounts = arguments[2], arguments[3]
local call, attempt, unpack_struct, pack_struct = redis.call, redis.pcall, struct.unpack, struct.pack
local byte, format = string.byte, string.format

-- How long a key may outlive its state, in milliseconds: a new one, whose caller may never come again, and one that is used
-- again. Never longer than the longest window of its string.
local FIRST_STEP, LONGEST_STEP = 1000, 10000
-- Expiries are multiples of this, so that counters of a call share them as text. Redis looks for expired keys as often.
local GRID = 128

-- A test's clock may stand still while Redis's own runs: its keys live for a day more.
local time = call('TIME')
local now, shift = time[1] * 1000000 + time[2], 0
if arguments[1] ~= '' then
  local redis_now = now
  now = tonumber(arguments[1])
  shift = floor((redis_now - now) / 1000) + 86400000
end

-- A lone request for one permit of a counter with one quota, as a gateway sends it that is not busy: decided without the tables
-- and functions that many requests share. What it cannot decide, or may not write, has changed no state and goes the long way.
if runs == '\1\1\0\1' and #arguments[4] == 72 then
  local _, window, _, need, part, full, _, tag = unpack_struct('<dddddddd', arguments[4])
  local value = part ~= 0 or call('MGET', keys[1])[1]
  if not value and need <= full then
    local after = now + need
    local expiry = (after - after % 1000) / 1000 + FIRST_STEP
    expiry = expiry - expiry % GRID
    local text = pack_struct('<dI4', after, tag + expiry % 65536 * 65536)
    local set = attempt('SET', keys[1], text, 'PXAT', format('%d', expiry + shift), 'NX')
    if set and set.ok then
      return { now, '\4' .. text }
    end
  elseif value and value ~= true and #value == 12 then
    local before, mark = unpack_struct('<dI4', value)
    local own = mark % 65536
    local after = before > now and before + need or now + need
    if own == tag and before >= 0 and before < 9007199254740992 and after - now <= full then
      local step = window < LONGEST_STEP * 1000 and window / 1000 or LONGEST_STEP
      local was, is = (before - before % 1000) / 1000, (after - after % 1000) / 1000
      local left = ((mark - own) / 65536 - was) % 65536 + was - is
      local lives = left >= 1 and left <= step
      if not lives then
        local expiry = is + step
        expiry = expiry - expiry % GRID
        mark = tag + expiry % 65536 * 65536
        -- Before the state: a key that lives longer than its state says does no harm.
        lives = attempt('PEXPIREAT', keys[1], format('%d', expiry + shift)) == 1
      end
      local text = pack_struct('<dI4', after, mark)
      if lives and attempt('SETRANGE', keys[1], '0', text) == 12 then
        return { now, '\4' .. text }
      end
    end
  end
end

-- A spec is its numbers, nine per quota, how many quotas it has, whether one of them has rests, and how long a key that is used
-- again may outlive its state.
local specs = {}
for number = 4, #arguments do
  local text = arguments[number]
  local permits, window, burst, whole, part, full, full_rest, tag, longest = unpack_struct('<ddddddddd', text)
  local spec = {
    permits, window, burst, whole, part, full, full_rest, tag, longest,
    size = #text / 72, wide = part ~= 0, step = window < LONGEST_STEP * 1000 and window / 1000 or LONGEST_STEP
  }
  for at = 73, #text, 72 do
    permits, window, burst, whole, part, full, full_rest, tag, longest = unpack_struct('<ddddddddd', text, at)
    local last = (at - 1) / 8
    spec[last + 1], spec[last + 2], spec[last + 3], spec[last + 4], spec[last + 5], spec[last + 6], spec[last + 7],
      spec[last + 8], spec[last + 9] = permits, window, burst, whole, part, full, full_rest, tag, longest
    spec.wide = spec.wide or part ~= 0
    if window > spec.step * 1000 then
      spec.step = window < LONGEST_STEP * 1000 and window / 1000 or LONGEST_STEP
    end
  end
  specs[number - 3] = spec
end

-- How struct reads a string of so many windows.
local function layout(size, wide)
  local rep = string.rep
  return '<' .. rep('d', size) .. (wide and rep('I4', size) or '') .. rep('I2', size + 1) .. (wide and 'x' or '')
end

-- A taker takes a cost from a counter whose string has exactly the windows of the spec. It returns the new string and, if the key
-- needs a new expiry, that in milliseconds; nil if there is no room; false if the string is another one, or has to be cut back.
-- Nothing is written: the request may be refused by another counter.
local function taker(spec, cost)
  local size, wide, step, new, new_end = spec.size, spec.wide, spec.step, nil, nil

  if size == 1 and not wide then
    local need, full, tag, ahead = cost * spec[4], spec[6], spec[8], 2 * spec[9]
    return function(value)
      if not value then
        if not new and need <= full then
          new_end = (now + need - (now + need) % 1000) / 1000 + FIRST_STEP
          new_end = new_end - new_end % GRID
          new = pack_struct('<dI4', now + need, tag + new_end % 65536 * 65536)
        end
        return new, new_end
      end
      if #value ~= 12 then
        return false
      end
      local before, mark = unpack_struct('<dI4', value)
      local own = mark % 65536
      if own ~= tag or not (before >= 0 and before < 9007199254740992) then
        return false
      end
      local after = before > now and before + need or now + need
      if after - now > full then
        if before - now > ahead then
          return false
        end
        return nil
      end
      local was, is = (before - before % 1000) / 1000, (after - after % 1000) / 1000
      local left = ((mark - own) / 65536 - was) % 65536 + was - is
      if left >= 1 and left <= step then
        return pack_struct('<dI4', after, mark)
      end
      local expiry = is + step
      expiry = expiry - expiry % GRID
      return pack_struct('<dI4', after, tag + expiry % 65536 * 65536), expiry
    end
  end

  if size == 2 and not wide then
    local need, full, ahead, tags = cost * spec[4], spec[6], 2 * spec[9], spec[8] + 65536 * spec[17]
    local need_2, full_2, ahead_2 = cost * spec[13], spec[15], 2 * spec[18]
    return function(value)
      if not value then
        if not new and need <= full and need_2 <= full_2 then
          local latest = now + (need > need_2 and need or need_2)
          new_end = (latest - latest % 1000) / 1000 + FIRST_STEP
          new_end = new_end - new_end % GRID
          new = pack_struct('<ddI4I2', now + need, now + need_2, tags, new_end % 65536)
        end
        return new, new_end
      end
      if #value ~= 22 then
        return false
      end
      local before, before_2, own, mark = unpack_struct('<ddI4I2', value)
      if own ~= tags or not (before >= 0 and before < 9007199254740992 and before_2 >= 0 and before_2 < 9007199254740992) then
        return false
      end
      local after, after_2 = before > now and before + need or now + need, before_2 > now and before_2 + need_2 or now + need_2
      if after - now > full or after_2 - now > full_2 then
        if before - now > ahead or before_2 - now > ahead_2 then
          return false
        end
        return nil
      end
      local was, is = before > before_2 and before or before_2, after > after_2 and after or after_2
      was, is = (was - was % 1000) / 1000, (is - is % 1000) / 1000
      local left = (mark - was) % 65536 + was - is
      if left >= 1 and left <= step then
        return pack_struct('<ddI4I2', after, after_2, tags, mark)
      end
      local expiry = is + step
      expiry = expiry - expiry % GRID
      return pack_struct('<ddI4I2', after, after_2, tags, expiry % 65536), expiry
    end
  end

  local form, length, tags = layout(size, wide), wide and 14 * size + 3 or 10 * size + 2, wide and 2 * size or size
  return function(value)
    local state
    if value then
      if #value ~= length then
        return false
      end
      state = { unpack_struct(form, value) }
    elseif new then
      return new, new_end
    else
      state = {}
      for quota = 1, size do
        state[quota], state[tags + quota] = now, spec[9 * quota - 1]
        if wide then
          state[size + quota] = 0
        end
      end
      state[tags + size + 1] = 0
    end
    local was, is, refused = 0, 0, nil
    for quota = 1, size do
      local at, before = 9 * quota, state[quota]
      if state[tags + quota] ~= spec[at - 1] or not (before >= 0 and before < 9007199254740992) then
        return false
      end
      if before > was then
        was = before
      end
      local after, rest, permits, part = before, 0, spec[at - 8], spec[at - 4]
      if before < now then
        after = now
        if wide then
          state[size + quota] = 0
        end
      elseif before - now > 2 * spec[at] then
        return false
      end
      after = after + cost * spec[at - 5]
      if wide then
        rest = floor(state[size + quota] * permits / 100000000)
        if part ~= 0 then
          after, rest = after + floor(cost * part / permits), rest + cost * part % permits
        end
        if rest >= permits then
          after, rest = after + 1, rest - permits
        end
      end
      local room = spec[at - 3] - after + now
      if room < 0 or (room == 0 and rest > spec[at - 2]) then
        refused = true
      end
      state[quota] = after
      if part ~= 0 then
        state[size + quota] = -floor(-rest * 100000000 / permits)
      end
      if after > is then
        is = after
      end
    end
    if refused then
      return nil
    end
    was, is = (was - was % 1000) / 1000, (is - is % 1000) / 1000
    local left = (state[tags + size + 1] - was) % 65536 + was - is
    local expiry
    if not value or left < 1 or left > step then
      expiry = is + (value and step or FIRST_STEP)
      expiry = expiry - expiry % GRID
      state[tags + size + 1] = expiry % 65536
    end
    local text = pack_struct(form, unpack(state))
    if not value then
      new, new_end = text, expiry
    end
    return text, expiry
  end
end

-- The strings as they are now; how each has to be written: 1 it was not there, 2 in place, 3 it has another length; and, where
-- it is to be set, when the key expires. The parts of the answer.
local values, written, expiries, parts, last

local function answer(outcome, counters)
  last = last + 1
  parts[last] = outcome
  for i = 1, #counters do
    local state = values[counters[i]] or ''
    parts[last + i] = pack_struct('<I2', #state) .. state
  end
  last = last + #counters
end

-- Makes the function that decides a request which no takers can decide: its counters become tables with the times, rests and
-- tags of their windows.
local function decider()

  -- The windows of a string, nil if it is none of ours.
  local function parse(value)
    local windows = { times = {}, rests = {}, tags = {}, latest = 0, expiry = 0 }
    if not value then
      return windows
    end
    local wide = #value % 2 == 1
    local size = wide and (#value - 3) / 14 or (#value - 2) / 10
    if size < 1 or size > 255 or size % 1 ~= 0 then
      return nil
    end
    local state = { unpack_struct(layout(size, wide), value) }
    local tags = wide and 2 * size or size
    for i = 1, size do
      -- What is no double, or no time of ours, cannot be a time.
      if not (state[i] >= 0 and state[i] < 9007199254740992) then
        return nil
      end
      windows.times[i], windows.rests[i], windows.tags[i] = state[i], wide and state[size + i] or 0, state[tags + i]
      windows.latest = math.max(windows.latest, state[i])
    end
    windows.expiry = state[tags + size + 1]
    return windows
  end

  -- Brings the windows of a spec up to date and forgets those of others that are over. Returns the index of each
  -- quota's window, and whether a time had to be cut back.
  local function settle(windows, spec)
    local times, rests, tags = windows.times, windows.rests, windows.tags
    local places, kept, cut = {}, 0, false
    for i = 1, #times do
      local quota = 0
      for j = 1, spec.size do
        quota = spec[9 * j - 1] == tags[i] and j or quota
      end
      if quota > 0 or times[i] > now then
        kept = kept + 1
        times[kept], rests[kept], tags[kept] = times[i], rests[i], tags[i]
        places[quota] = kept
      end
    end
    for i = #times, kept + 1, -1 do
      times[i], rests[i], tags[i] = nil, nil, nil
    end
    for quota = 1, spec.size do
      local at, place = 9 * quota, places[quota]
      if not place then
        place = #times + 1
        times[place], rests[place], tags[place], places[quota] = now, 0, spec[at - 1], place
      elseif times[place] < now then
        times[place], rests[place] = now, 0
      elseif times[place] - now > 2 * spec[at] then
        times[place], rests[place], cut = now + spec[at], 0, true
      end
    end
    return places, cut
  end

  local function room(windows, places, spec)
    local least = 9007199254740992
    for quota = 1, spec.size do
      local at, place = 9 * quota, places[quota]
      local permits = spec[at - 8]
      local micros, rest = spec[at - 3] - windows.times[place] + now, spec[at - 2]
      rest = rest - floor(windows.rests[place] * permits / 100000000)
      if rest < 0 then
        micros, rest = micros - 1, rest + permits
      end
      local available = permits_in(micros, rest, permits, spec[at - 7], spec[at - 6], spec[at - 5], spec[at - 4])
      least = available < least and available or least
    end
    return least
  end

  -- Moves the windows of a spec ahead by permits that are taken, or back by those that were taken at a time. A time below 0
  -- charges permits: each window moves ahead by as many of them as leave a debt of one burst. Returns how many permits were
  -- taken, returned (to a full window too) or charged in the window where they were most.
  local function move(windows, places, spec, wanted, since)
    local most = 0
    for quota = 1, spec.size do
      local at, place = 9 * quota, places[quota]
      local permits, whole, part = spec[at - 8], spec[at - 5], spec[at - 4]
      local moved, rest, count = windows.times[place], nil, wanted
      if since < 0 then
        local carried = floor(2 * spec[at - 2] / permits)
        local room = 2 * spec[at - 3] + carried - moved + now
        local left = 2 * spec[at - 2] - carried * permits - floor(windows.rests[place] * permits / 100000000)
        if left < 0 then
          room, left = room - 1, left + permits
        end
        count = permits_in(room, left, permits, spec[at - 7], wanted, whole, part)
      end
      if since <= 0 then
        moved = moved + count * whole
        if part ~= 0 then
          moved, rest = moved + floor(count * part / permits), count * part % permits
        end
      elseif now - since <= (spec[at - 2] > 0 and spec[at - 3] + 1 or spec[at - 3]) then
        moved = moved - wanted * whole
        if part ~= 0 then
          moved, rest = moved - floor(wanted * part / permits), -(wanted * part % permits)
        end
      else
        count = 0
      end
      most = count > most and count or most
      if rest then
        rest = rest + floor(windows.rests[place] * permits / 100000000)
        if rest >= permits then
          moved, rest = moved + 1, rest - permits
        elseif rest < 0 then
          moved, rest = moved - 1, rest + permits
        end
        windows.rests[place] = -floor(-rest * 100000000 / permits)
      end
      if moved < now then
        moved, windows.rests[place] = now, 0
      end
      windows.times[place] = moved
    end
    return most
  end

  -- The string of windows, and the expiry that its key needs, if it needs another one.
  local function text_of(windows, spec, value)
    local size, wide, longest, latest = #windows.times, spec.wide, 0, 0
    for i = 1, size do
      wide = wide or windows.rests[i] ~= 0
      latest = math.max(latest, windows.times[i])
      -- A tag of 1 to 9 is that of a window of as many seconds, any other that of a longer one.
      longest = math.max(longest, windows.tags[i] < 10 and windows.tags[i] * 1000 or LONGEST_STEP)
    end
    local state = {}
    for i = 1, size do
      state[i] = windows.times[i]
      state[size + i] = wide and windows.rests[i] or windows.tags[i]
      if wide then
        state[2 * size + i] = windows.tags[i]
      end
    end
    local was, is = floor(windows.latest / 1000), floor(latest / 1000)
    local left = (windows.expiry - was) % 65536 + was - is
    local length = wide and 14 * size + 3 or 10 * size + 2
    local expiry
    if not value or #value ~= length or left < 1 or left > longest then
      expiry = is + (value and longest or FIRST_STEP)
      expiry = expiry - expiry % GRID
    end
    state[#state + 1] = expiry and expiry % 65536 or windows.expiry
    return pack_struct(layout(size, wide), unpack(state)), expiry
  end

  local function put(counter, text, expiry)
    local value, how = values[counter], written[counter]
    if how ~= 1 and how ~= 3 then
      written[counter] = value and (#value == #text and 2 or 3) or 1
    end
    values[counter] = text
    expiries[counter] = expiry or expiries[counter]
  end

  return function(counters, own, unit, least, most, since)
    local taken, all, places, cut = most, {}, {}, {}
    for i = 1, #counters do
      local windows = parse(values[counters[i]])
      if not windows then
        return answer('\2', {})
      end
      all[i] = windows
      places[i], cut[i] = settle(windows, own[i])
      if since == 0 and taken > 0 then
        local available = room(windows, places[i], own[i])
        taken = available < taken and available or taken
      end
    end
    local moves, told = since ~= 0, taken
    if not moves and taken > 0 then
      taken = taken - taken % unit
      taken = taken < least and 0 or taken
      moves, told = taken > 0, taken
    end
    for i = 1, #counters do
      if moves then
        local moved = move(all[i], places[i], own[i], taken, since)
        told = moved < told and moved or told
      end
      if moves or cut[i] then
        put(counters[i], text_of(all[i], own[i], values[counters[i]]))
      end
    end
    answer(told == most and '\1' or told == 0 and '\0' or '\3' .. pack_struct('<d', told), counters)
  end
end

local decide, foreign
-- Where the server refuses one of the cheaper commands to us, SET does the same for more, and the answer says so.
local plain = false

repeat
  local again = false
  values, written, expiries, parts, last = call('MGET', unpack(keys)), {}, {}, {}, 0
  for counter in pairs(foreign or {}) do
    values[counter] = ''
  end

  local at, amount, alone = 1, 1, 1
  while at < #runs do
    local members, requests, form = byte(runs, at, at + 2)
    local own, unit, least, most, since = { specs[byte(runs, at + 3)] }, 1, 1, 1, 0
    local wide = own[1].wide
    for i = 2, members do
      own[i] = specs[byte(runs, at + 2 + i)]
      wide = wide or own[i].wide
    end
    at = at + 3 + members
    if form % 2 == 1 then
      unit, least, most, since, amount = unpack_struct('<dddd', amounts, amount)
    end
    local takes = since == 0 and most > 0 and most % unit == 0
    if takes and form < 2 and members == 1 then
      local take = taker(own[1], most)
      for counter = alone, alone + requests - 1 do
        local value = values[counter]
        local text, expiry = take(value)
        if text then
          written[counter], values[counter] = value and 2 or 1, text
          if expiry then
            expiries[counter] = expiry
          end
          if wide then
            answer('\1', { counter })
          else
            parts[last + 1], parts[last + 2] = '\4', text
            last = last + 2
          end
        elseif text == false or least < most then
          decide = decide or decider()
          decide({ counter }, own, unit, least, most, 0)
        else
          answer('\0', { counter })
        end
      end
      alone = alone + requests
    else
      local takers, texts, ends, counters = {}, {}, {}, {}
      for i = 1, takes and members or 0 do
        takers[i] = taker(own[i], most)
      end
      for _ = 1, requests do
        local fits = takes
        for i = 1, members do
          local counter = alone
          if form < 2 then
            alone = alone + 1
          else
            counter, at = byte(runs, at), at + 1
          end
          counters[i] = counter
          if takes and fits ~= nil then
            local text, expiry = takers[i](values[counter])
            if text then
              texts[i], ends[i] = text, expiry
            elseif text == false then
              fits = nil
            else
              fits = false
            end
          end
        end
        if fits then
          parts[last + 1] = '\4'
          for i = 1, members do
            local counter, text = counters[i], texts[i]
            if not written[counter] then
              written[counter] = values[counter] and 2 or 1
            end
            values[counter], parts[last + 1 + i] = text, text
            if ends[i] then
              expiries[counter] = ends[i]
            end
          end
          if wide then
            answer('\1', counters)
          else
            last = last + 1 + members
          end
        elseif takes and fits == false and least == most then
          answer('\0', counters)
        else
          decide = decide or decider()
          decide(counters, own, unit, least, most, since)
        end
      end
    end
  end

  -- Strings that were not there are written first. If one of their keys is there after all, it is no string, which MGET does not
  -- tell from nothing: nothing is written then, and all is decided anew.
  local new, size = {}, 0
  for counter = 1, #keys do
    if written[counter] == 1 then
      new[size + 1], new[size + 2] = keys[counter], values[counter]
      size = size + 2
    end
  end
  if size > 0 and attempt('MSETNX', unpack(new)) ~= 1 then
    foreign = foreign or {}
    for counter = 1, #keys do
      if written[counter] == 1 and call('EXISTS', keys[counter]) == 1 then
        foreign[counter], again = true, true
      end
    end
    plain = not again
  end
until not again

local known, known_text
for counter = 1, #keys do
  local how = written[counter]
  if how then
    local key, text, expiry = keys[counter], values[counter], expiries[counter]
    if expiry and expiry ~= known then
      known, known_text = expiry, format('%d', expiry + shift)
    end
    if not plain then
      plain = how == 2 and attempt('SETRANGE', key, '0', text) ~= #text
        or how < 3 and expiry and attempt('PEXPIREAT', key, known_text) ~= 1
    end
    if how == 3 or plain then
      if expiry then
        call('SET', key, text, 'PXAT', known_text)
      else
        call('SET', key, text, 'KEEPTTL')
      end
    end
  end
end
return { now, table.concat(parts), plain and 1 or nil }
