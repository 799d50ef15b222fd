package dev.ratelimit.benchmarks.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lettuce.core.RedisURI;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.common.MeasuredRedis;
import dev.ratelimit.benchmarks.load.Arrivals;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.OpenLoop;
import dev.ratelimit.benchmarks.load.Tally;

/**
 * Measures one contender, in the JVM that {@link WorkerProcess} started for it, and
 * writes one line of JSON for each workload that it reads, until there is no more to read
 * or the parent is gone. Each gets the contender anew and an empty Redis.
 */
@Command(name = "worker", hidden = true)
public final class WorkerCommand implements Callable<Integer> {

	/** Code that was not compiled yet would miss any other and open the breaker. */
	private static final Duration COLD_DEADLINE = Duration.ofSeconds(2);

	/** Until the closed loop has shown what the limiter can do, in checks per second. */
	private static final double SLOW = 10_000;

	private static final Workload FILL = new Workload(Keys.EXISTING, 256);

	@Option(names = "--uri", required = true)
	@SuppressWarnings("NullAway.Init")
	private String uri;

	@Option(names = "--contender", required = true)
	@SuppressWarnings("NullAway.Init")
	private String contender;

	@Option(names = "--workloads", required = true, split = ",")
	@SuppressWarnings("NullAway.Init")
	private List<String> workloads;

	@Option(names = "--deadline", required = true)
	@SuppressWarnings("NullAway.Init")
	private Duration deadline;

	@Option(names = "--warm-up", required = true)
	@SuppressWarnings("NullAway.Init")
	private Duration warmUp;

	@Option(names = "--settle", required = true)
	@SuppressWarnings("NullAway.Init")
	private Duration settle;

	@Option(names = "--measure", required = true)
	@SuppressWarnings("NullAway.Init")
	private Duration measure;

	/** The highest rate of the closed loop so far. */
	private final Map<Keys, Double> rates = new EnumMap<>(Keys.class);

	@Override
	public Integer call() throws IOException {
		RedisURI redis = RedisURI.create(this.uri);
		ContenderKind kind = ContenderKind.parse(this.contender);
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		try (MeasuredRedis probe = MeasuredRedis.at(redis)) {
			warmUp(kind, redis, probe);
			for (String order = orders.readLine(); order != null; order = orders.readLine()) {
				Measurement measured = measure(kind, Workload.parse(order), redis, probe);
				System.out.println(new ObjectMapper().writeValueAsString(measured));
			}
		}
		return 0;
	}

	private void warmUp(ContenderKind kind, RedisURI redis, MeasuredRedis probe) {
		for (String id : this.workloads) {
			Workload workload = Workload.parse(id);
			probe.flush();
			try (Contender cold = kind.open(redis, workload.keys(), COLD_DEADLINE)) {
				run(cold, workload, this.warmUp.dividedBy(this.workloads.size()));
			}
		}
	}

	/** By a limiter of its own: a breaker that opens here would be open afterwards. */
	private static void fill(ContenderKind kind, RedisURI redis) {
		try (Contender cold = kind.open(redis, FILL.keys(), COLD_DEADLINE)) {
			ClosedLoop.fill(cold, FILL);
		}
	}

	private Tally run(Contender contender, Workload workload, Duration duration) {
		if (workload.open()) {
			double rate = this.rates.getOrDefault(workload.keys(), SLOW) / 2;
			AtomicLong asked = new AtomicLong();
			Arrivals arrivals = Arrivals.random(rate, duration.toNanos(), new SplittableRandom(),
					(random) -> workload.keys().next(asked.getAndIncrement(), random));
			return new OpenLoop((arrival, answer) -> contender.check(arrival.key(), answer), arrivals).run();
		}
		return ClosedLoop.checking(contender, workload).run(duration);
	}

	private Measurement measure(ContenderKind kind, Workload workload, RedisURI redis, MeasuredRedis probe) {
		probe.flush();
		if (workload.keys() == Keys.EXISTING) {
			fill(kind, redis);
		}
		try (Contender warm = kind.open(redis, workload.keys(), this.deadline)) {
			run(warm, workload, this.settle);
			Machine before = Machine.now();
			double redisBefore = probe.cpuSeconds();
			Tally tally = run(warm, workload, this.measure);
			double redisSeconds = probe.cpuSeconds() - redisBefore;
			if (!workload.open()) {
				this.rates.merge(workload.keys(), tally.throughput(), Math::max);
			}
			return Measurement.of(kind, workload, tally, Machine.now().since(before), redisSeconds);
		}
	}

}
