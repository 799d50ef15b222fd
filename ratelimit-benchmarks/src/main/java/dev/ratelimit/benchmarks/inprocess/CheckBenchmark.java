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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.memory.MemoryCounters;

/**
 * The whole way of a check through the public interface, on 100 callers, with counters in
 * memory: what our limiter costs before Redis does.
 *
 * <p>
 * {@code java -jar ratelimit-benchmarks/target/ratelimit-benchmarks.jar jmh CheckBenchmark -prof gc}
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class CheckBenchmark {

	private static final int CALLERS = 100;

	private final RateLimiter one = limiter(
			Policy.builder("local").limit("per-user", List.of(Dimension.USER), "60000000/m").build());

	private final RateLimiter three = limiter(three(Enforcement.STRICT));

	private final RateLimiter leased = limiter(three(Enforcement.LEASED));

	private final Request[] requests = IntStream.range(0, CALLERS)
		.mapToObj((i) -> Request.of("local")
			.with(Dimension.USER, "user-" + i)
			.with(Dimension.TENANT, "tenant-" + i / 10)
			.with(Dimension.IP, "10.0.0." + i))
		.toArray(Request[]::new);

	private static Policy three(Enforcement enforcement) {
		return Policy.builder("local")
			.limit("per-user", List.of(Dimension.USER), "60000000/m", "90000000/d")
			.limit("per-tenant", List.of(Dimension.TENANT), "60000000/m", "90000000/d")
			.limit("per-ip", List.of(Dimension.IP), "60000000/m", "90000000/d")
			.enforcement(enforcement)
			.build();
	}

	private static RateLimiter limiter(Policy policy) {
		Counters counters = new MemoryCounters(100_000, MemoryCounters::systemMicros);
		if (policy.settings().enforcement() == Enforcement.LEASED) {
			HotCounters hot = new HotCounters(10_000, 10_000, () -> 1, System::nanoTime);
			counters = RateLimiterBuilder.leased(counters, LeaseOptions.DEFAULTS, () -> 1, hot, (permits) -> {
			}, (delay, task) -> {
			});
		}
		return RateLimiterBuilder.on(counters).policies(policy).build();
	}

	/** {@code … jmh CheckBenchmark.oneLimit} */
	@Benchmark
	public CompletionStage<Decision> oneLimit() {
		return this.one.check(request());
	}

	/** {@code … jmh CheckBenchmark.threeLimits} */
	@Benchmark
	public CompletionStage<Decision> threeLimits() {
		return this.three.check(request());
	}

	/** {@code … jmh CheckBenchmark.threeLeased} */
	@Benchmark
	public CompletionStage<Decision> threeLeased() {
		return this.leased.check(request());
	}

	private Request request() {
		return this.requests[ThreadLocalRandom.current().nextInt(CALLERS)];
	}

}
