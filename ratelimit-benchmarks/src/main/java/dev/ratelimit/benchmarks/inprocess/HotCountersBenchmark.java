package dev.ratelimit.benchmarks.inprocess;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.LocalHotStore;
import dev.ratelimit.hot.TopRefusals;

/**
 * What it costs a check to find hot counters: to be below 50 ns and without allocation,
 * on one key, which is hot, and on a million, which crowd each other out.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar jmh HotCountersBenchmark -prof gc}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class HotCountersBenchmark {

	@Param({ "1", "1000", "1000000" })
	private int keys;

	private final HotCounters hot = new HotCounters(10_000, 10_000, () -> 1, System::nanoTime);

	private final HotExchange exchange = new HotExchange(this.hot, new TopRefusals(System::nanoTime),
			new LocalHotStore(System::nanoTime), 100, System::nanoTime);

	@SuppressWarnings("NullAway.Init")
	private Counter[] counters;

	@Setup
	public void prepare() {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA,
				Limit.of("per-tenant", List.of(Dimension.TENANT), "1000000/s"), Enforcement.ADAPTIVE,
				new LiveWindows());
		CounterKeys names = new CounterKeys("rl");
		this.counters = IntStream.range(0, this.keys)
			.mapToObj((i) -> new Counter(spec, names, "orders", List.of("tenant-" + i)))
			.toArray(Counter[]::new);
		this.exchange.start();
	}

	@TearDown
	public void end() {
		this.exchange.close();
	}

	/** {@code … jmh HotCountersBenchmark.oneThread} */
	@Benchmark
	@Threads(1)
	public boolean oneThread() {
		return test();
	}

	/** {@code … jmh HotCountersBenchmark.allThreads} */
	@Benchmark
	@Threads(Threads.MAX)
	public boolean allThreads() {
		return test();
	}

	private boolean test() {
		int key = (this.keys > 1) ? ThreadLocalRandom.current().nextInt(this.keys) : 0;
		this.hot.count(this.counters[key]);
		return this.hot.isHot(this.counters[key]);
	}

}
