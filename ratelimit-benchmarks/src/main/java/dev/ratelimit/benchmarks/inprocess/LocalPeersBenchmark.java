package dev.ratelimit.benchmarks.inprocess;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.bucket4j.Bucket;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
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
 * What others cost within the process, on one hot key with a limit out of reach.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar jmh LocalPeersBenchmark -t max}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class LocalPeersBenchmark {

	private final RateLimiter resilience4j = RateLimiter.of("local",
			RateLimiterConfig.custom()
				.limitForPeriod(1_000_000_000)
				.limitRefreshPeriod(Duration.ofSeconds(1))
				.timeoutDuration(Duration.ZERO)
				.build());

	private final Bucket bucket4j = Bucket.builder()
		.addLimit((limit) -> limit.capacity(1_000_000_000).refillGreedy(1_000_000_000, Duration.ofSeconds(1)))
		.build();

	private final CasGcra cas = new CasGcra(1, 1, 1_000_000_000);

	/** {@code … jmh LocalPeersBenchmark.resilience4j} */
	@Benchmark
	public boolean resilience4j() {
		return this.resilience4j.acquirePermission();
	}

	/** {@code … jmh LocalPeersBenchmark.bucket4j} */
	@Benchmark
	public boolean bucket4j() {
		return this.bucket4j.tryConsume(1);
	}

	/** {@code … jmh LocalPeersBenchmark.bareCompareAndSwap} */
	@Benchmark
	public boolean bareCompareAndSwap() {
		return this.cas.tryTake(0);
	}

}
