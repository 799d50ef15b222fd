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
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

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

	private final RateLimiter three = limiter(Policy.builder("local")
		.limit("per-user", List.of(Dimension.USER), "60000000/m", "90000000/d")
		.limit("per-tenant", List.of(Dimension.TENANT), "60000000/m", "90000000/d")
		.limit("per-ip", List.of(Dimension.IP), "60000000/m", "90000000/d")
		.build());

	private final Request[] requests = IntStream.range(0, CALLERS)
		.mapToObj((i) -> Request.of("local")
			.with(Dimension.USER, "user-" + i)
			.with(Dimension.TENANT, "tenant-" + i / 10)
			.with(Dimension.IP, "10.0.0." + i))
		.toArray(Request[]::new);

	private static RateLimiter limiter(Policy policy) {
		PolicySet policies = PolicySet.of(policy);
		MemoryCounters counters = new MemoryCounters(100_000, MemoryCounters::systemMicros);
		return new PolicyRateLimiter(() -> policies, new CounterKeys("rl"), counters, Fallback.to(counters),
				LimiterOptions.DEFAULTS, List.of());
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

	private Request request() {
		return this.requests[ThreadLocalRandom.current().nextInt(CALLERS)];
	}

}
