package dev.ratelimit.benchmarks.inprocess;

import java.util.List;
import java.util.concurrent.CompletionStage;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

/**
 * Our counters in memory, by GCRA, on one hot key and on many.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar jmh MemoryCountersBenchmark -prof gc}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class MemoryCountersBenchmark {

	@Param({ "1", "100000" })
	private int keys;

	private final MemoryCounters counters = new MemoryCounters(200_000, MemoryCounters::systemMicros);

	@SuppressWarnings("NullAway.Init")
	private List<List<Counter>> requests;

	@Setup
	public void prepare() {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA,
				Limit.of("per-user", List.of(Dimension.USER), "90000000/s burst 90000000"));
		CounterKeys names = new CounterKeys("rl");
		this.requests = IntStream.range(0, this.keys)
			.mapToObj((i) -> List
				.of(new Counter(spec, names.key("local", spec.algorithm(), spec.limit(), List.of("user-" + i)))))
			.toList();
	}

	/** {@code … jmh MemoryCountersBenchmark.oneThread} */
	@Benchmark
	@Threads(1)
	public CompletionStage<Grant> oneThread() {
		return acquire();
	}

	/** {@code … jmh MemoryCountersBenchmark.allThreads} */
	@Benchmark
	@Threads(Threads.MAX)
	public CompletionStage<Grant> allThreads() {
		return acquire();
	}

	private CompletionStage<Grant> acquire() {
		int key = (this.keys > 1) ? ThreadLocalRandom.current().nextInt(this.keys) : 0;
		return this.counters.acquire(this.requests.get(key), Permits.exactly(1));
	}

}
