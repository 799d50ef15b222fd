package dev.ratelimit.assembly;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.IntStream;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counters;
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

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	private final RateLimiter limiter = limiter();

	private final Request[] requests = IntStream.range(0, 10)
		.mapToObj((i) -> Request.of("orders")
			.with(Dimension.USER, "user-" + i)
			.with(Dimension.TENANT, "tenant-" + i)
			.with(Dimension.IP, "10.0.0." + i))
		.toArray(Request[]::new);

	@Test
	void leasedCheckAllocatesAtMost400Bytes() {
		long least = Long.MAX_VALUE;
		for (int round = 0; round < 200; round++) {
			long before = THREADS.getCurrentThreadAllocatedBytes();
			int leased = checks();
			long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
			// Other rounds fetch leases.
			least = (leased == CHECKS) ? Math.min(least, bytes / CHECKS) : least;
		}
		assertThat(least).isLessThanOrEqualTo(400);
	}

	private int checks() {
		int leased = 0;
		for (int i = 0; i < CHECKS; i++) {
			Decision decision = this.limiter.check(this.requests[i % this.requests.length])
				.toCompletableFuture()
				.join();
			leased += (decision.source() == Decision.Source.LEASE) ? 1 : 0;
		}
		return leased;
	}

	private static RateLimiter limiter() {
		Policy policy = Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "60000000/m", "90000000/d")
			.limit("per-tenant", List.of(Dimension.TENANT), "60000000/m", "90000000/d")
			.limit("per-ip", List.of(Dimension.IP), "60000000/m", "90000000/d")
			.enforcement(Enforcement.LEASED)
			.build();
		Counters memory = new MemoryCounters(1_000, MemoryCounters::systemMicros);
		HotCounters hot = new HotCounters(10_000, 10_000, () -> 1, System::nanoTime);
		return RateLimiterBuilder
			.on(RateLimiterBuilder.leased(memory, LeaseOptions.DEFAULTS, () -> 1, hot, (permits) -> {
			}))
			.policies(policy)
			.build();
	}

}
