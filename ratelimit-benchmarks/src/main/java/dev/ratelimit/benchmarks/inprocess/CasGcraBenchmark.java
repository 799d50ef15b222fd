package dev.ratelimit.benchmarks.inprocess;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The least that a check on one of many keys can cost: no look-up, no answer but yes or
 * no. For comparison with {@link MemoryCountersBenchmark}.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar jmh CasGcraBenchmark -t max}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class CasGcraBenchmark {

	private static final int KEYS = 100_000;

	private final CasGcra gcra = new CasGcra(KEYS, 1, 1_000_000_000);

	/** {@code … jmh CasGcraBenchmark.manyKeys} */
	@Benchmark
	public boolean manyKeys() {
		return this.gcra.tryTake(ThreadLocalRandom.current().nextInt(KEYS));
	}

}
