-- Sends requests of callers drawn at random and prints one line of results.
-- args[1]  number of callers
-- Requests are encoded ahead, so that the load costs the machine little.
local requests = {}
local callers
local threads = {}
failed = 0

function setup(thread)
	table.insert(threads, thread)
end

function init(args)
	callers = tonumber(args[1])
	math.randomseed(os.time())
	for i = 0, callers - 1 do
		requests[i] = wrk.format('GET', nil, {
			['X-Forwarded-For'] = string.format('10.0.%d.%d', math.floor(i / 256), i % 256),
			['X-API-Key'] = string.format('sk_test_%08d', i),
		})
	end
end

function request()
	return requests[math.random(0, callers - 1)]
end

-- -1 means that a limiter let the request pass without having counted it.
function response(status, headers, body)
	if status ~= 200 or headers['X-RateLimit-Remaining'] == '-1' then
		failed = failed + 1
	end
end

function done(summary, latency, rates)
	local wrong = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
	for _, thread in ipairs(threads) do
		wrong = wrong + thread:get('failed')
	end
	io.write(string.format('result %d %d %d %d %d\n', summary.requests, wrong, summary.duration, latency:percentile(50),
			latency:percentile(99)))
end
