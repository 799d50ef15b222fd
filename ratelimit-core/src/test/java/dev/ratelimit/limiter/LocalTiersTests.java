package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Tier;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two tiers of one tenant share its counter also under {@code on-failure: local}: each
 * caller is decided by its instance's share of its own quotas, one and a half times what
 * is even, and none of them gives the other permits anew.
 */
class LocalTiersTests {

	private static final Request FREE = Request.of("orders").with(Dimension.TENANT, "acme");

	private static final Request PRO = FREE.withTier("pro");

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final AtomicInteger instances = new AtomicInteger(1);

	@Test
	void windowThatOnlyOneTierHasIsKeptWhenTheOtherTierComesBy() {
		PolicyRateLimiter limiter = limiter("5/s", "500/s", "40/d");
		int pro = 0;
		for (int second = 0; second < 200; second++) {
			check(limiter, FREE);
			pro += check(limiter, PRO) ? 1 : 0;
			pass(Duration.ofSeconds(1));
		}
		assertThat(pro).isEqualTo(60);
	}

	@Test
	void windowIsSharedByTheInstances() {
		this.instances.set(3);
		PolicyRateLimiter limiter = limiter("5/s", "500/s", "40/d");
		int pro = 0;
		for (int second = 0; second < 200; second++) {
			check(limiter, FREE);
			pro += check(limiter, PRO) ? 1 : 0;
			pass(Duration.ofSeconds(1));
		}
		assertThat(pro).isEqualTo(20);
	}

	@Test
	void tiersWithDifferentBurstsTakeNoMoreTogetherThanTheLargerBurstAndTheRate() {
		PolicyRateLimiter limiter = limiter("10/s", "10/s burst 100");
		int admitted = 0;
		for (int step = 1; step <= 1_000; step++) {
			admitted += check(limiter, (step % 2 == 0) ? FREE : PRO) ? 1 : 0;
			pass(Duration.ofMillis(10));
		}
		assertThat(admitted).isBetween(290, 301);
	}

	@Test
	void callerOfTheSmallerBurstIsDecidedByIt() {
		PolicyRateLimiter limiter = limiter("10/s", "10/s burst 100");
		int free = 0;
		while (check(limiter, FREE)) {
			free++;
		}
		int pro = 0;
		while (check(limiter, PRO)) {
			pro++;
		}
		assertThat(free).isEqualTo(15);
		assertThat(pro).isEqualTo(135);
		assertThat(check(limiter, FREE)).isFalse();
	}

	private void pass(Duration time) {
		this.now.addAndGet(time.toNanos() / 1_000);
	}

	private PolicyRateLimiter limiter(String free, String... pro) {
		List<Quota> quotas = List.of(pro).stream().map(Quota::parse).toList();
		PolicySet policies = PolicySet.of(Policy.builder("orders")
			.limit("per-tenant", List.of(Dimension.TENANT), free)
			.tier("pro", new Tier(Map.of("per-tenant", quotas), null))
			.onFailure(FailureMode.LOCAL)
			.build());
		return RateLimiterBuilder.on(FakeCounters.failing(memory()))
			.policies(() -> policies)
			.fallback(new Fallback(memory(), this.instances::get, () -> null))
			.build();
	}

	private MemoryCounters memory() {
		return new MemoryCounters(1_000, this.now::get);
	}

	private static boolean check(PolicyRateLimiter limiter, Request request) {
		return join(limiter.check(request)).allowed();
	}

}
