package dev.ratelimit.assembly;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.Settling;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Memory that a check of three leased limits with two quotas each allocates. The first
 * compiler removes no allocation, so all of them are counted.
 */
class LeasedCheckAllocationTests {

	private static final int CHECKS = 1_000;

	private static final Penalty PENALTY = new Penalty(100, Duration.ofSeconds(10), Duration.ofMinutes(10), 1_000,
			Duration.ofHours(1), 0);

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	private final Request[] requests = IntStream.range(0, 10)
		.mapToObj((i) -> Request.of("orders")
			.with(Dimension.USER, "user-" + i)
			.with(Dimension.TENANT, "tenant-" + i)
			.with(Dimension.IP, "10.0.0." + i))
		.toArray(Request[]::new);

	@Test
	void leasedCheckAllocatesAtMost400Bytes() {
		assertThat(bytes(limiter(policy()))).isLessThanOrEqualTo(400);
	}

	/** The receipt of a settling policy is larger, and nothing else. */
	@Test
	void policyWithPenaltiesOrIdempotencyAllocatesTheSame() {
		long plain = bytes(limiter(policy()));
		assertThat(bytes(limiter(policy().penalty(PENALTY)))).isEqualTo(plain);
		assertThat(bytes(limiter(policy().idempotency(new Idempotency("X-Request-Id", Duration.ofMinutes(10), 3)))))
			.isEqualTo(plain);
		assertThat(bytes(limiter(policy().settling(Settling.byCode(1))))).isGreaterThan(plain);
		assertThat(bytes(limiter(policy()))).isEqualTo(plain);
	}

	/** Bytes of a check whose permits are leased. */
	private long bytes(RateLimiter limiter) {
		long least = Long.MAX_VALUE;
		for (int round = 0; round < 200; round++) {
			long before = THREADS.getCurrentThreadAllocatedBytes();
			int leased = checks(limiter);
			long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
			// Other rounds fetch leases.
			least = (leased == CHECKS) ? Math.min(least, bytes / CHECKS) : least;
		}
		return least;
	}

	private int checks(RateLimiter limiter) {
		int leased = 0;
		for (int i = 0; i < CHECKS; i++) {
			Decision decision = limiter.check(this.requests[i % this.requests.length]).toCompletableFuture().join();
			leased += (decision.source() == Decision.Source.LEASE) ? 1 : 0;
		}
		return leased;
	}

	private static PolicyBuilder policy() {
		return Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "60000000/m", "90000000/d")
			.limit("per-tenant", List.of(Dimension.TENANT), "60000000/m", "90000000/d")
			.limit("per-ip", List.of(Dimension.IP), "60000000/m", "90000000/d")
			.enforcement(Enforcement.LEASED);
	}

	private static RateLimiter limiter(PolicyBuilder policy) {
		Counters memory = new MemoryCounters(1_000, MemoryCounters::systemMicros);
		HotCounters hot = new HotCounters(10_000, 10_000, () -> 1, System::nanoTime);
		return RateLimiterBuilder
			.on(RateLimiterBuilder.leased(memory, LeaseOptions.DEFAULTS, () -> 1, hot, (permits) -> {
			}, FakeCounters.NEVER))
			.policies(policy.build())
			.build();
	}

}
