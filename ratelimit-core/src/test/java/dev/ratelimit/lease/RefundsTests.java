package dev.ratelimit.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.Settlement;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Costs that leases paid and that are settled afterwards.
 */
class RefundsTests {

	private final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);

	private final MemoryCounters central = new MemoryCounters(100, () -> this.nanos.get() / 1_000, this.nanos::get);

	private final LeasedCounters counters = new LeasedCounters(this.central, LeaseOptions.DEFAULTS, () -> 1,
			(counter) -> true, (permits) -> {
			}, this.nanos::get, FakeCounters.NEVER);

	private final Counter counter = new Counter(new CounterSpec(Algorithm.GCRA,
			Limit.of("per-user", List.of(Dimension.USER), "100000/h"), Enforcement.LEASED, new LiveWindows(), true),
			new CounterKeys("rl"), "llm", List.of("ann"));

	@Test
	void refundGoesIntoTheLeaseWhileItLives() {
		Grant leased = leased(10);
		long held = this.counters.held(this.counter);
		long central = centralRemaining();
		assertThat(settle(leased, 4)).isEqualTo(Settlement.REFUNDED);
		assertThat(this.counters.held(this.counter)).isEqualTo(held + 6);
		assertThat(centralRemaining()).isEqualTo(central);
	}

	@Test
	void restOfALeaseWithARefundIsGivenBackWhenItEnds() {
		Grant leased = leased(10);
		settle(leased, 4);
		long held = this.counters.held(this.counter);
		long before = centralRemaining();
		pass(Duration.ofSeconds(2));
		long refilled = 2 * 100_000 / 3_600;
		await().atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(centralRemaining()).isBetween(before + held, before + held + refilled + 1));
	}

	@Test
	void refundAfterTheEndOfTheLeaseGoesToRedis() {
		Grant leased = leased(10);
		pass(Duration.ofSeconds(2));
		long before = centralRemaining();
		assertThat(settle(leased, 4)).isEqualTo(Settlement.REFUNDED);
		assertThat(centralRemaining()).isEqualTo(before + 6);
	}

	@Test
	void surplusIsChargedInRedis() {
		Grant leased = leased(10);
		long held = this.counters.held(this.counter);
		long before = centralRemaining();
		assertThat(settle(leased, 25)).isEqualTo(Settlement.SETTLED);
		assertThat(centralRemaining()).isEqualTo(before - 15);
		assertThat(this.counters.held(this.counter)).isEqualTo(held);
	}

	@Test
	void refusalIsNotRememberedWhereCostsAreSettled() {
		Counter strict = new Counter(new CounterSpec(Algorithm.GCRA, Limit.of("per-ip", List.of(Dimension.IP), "10/h"),
				Enforcement.STRICT, new LiveWindows(), true), new CounterKeys("rl"), "llm", List.of("192.0.2.1"));
		Grant grant = take(10, strict);
		assertThat(take(1, strict).refused()).isTrue();
		assertThat(take(1, strict).source()).isNotEqualTo(Decision.Source.DENIED_CACHE);
		settle(grant, 0);
		assertThat(take(1, strict).refused()).isFalse();
	}

	/** A grant that a lease paid. */
	private Grant leased(long cost) {
		for (int i = 0; i < 1_000; i++) {
			pass(Duration.ofMillis(2));
			Grant grant = take(cost, this.counter);
			if (grant.source() == Decision.Source.LEASE) {
				return grant;
			}
		}
		throw new AssertionError("nothing was leased");
	}

	private Settlement settle(Grant grant, long actual) {
		return join(this.counters.settle(new Correction("id", grant, actual - grant.permits(), System.nanoTime(), 0)));
	}

	private Grant take(long cost, Counter counter) {
		return join(this.counters.acquire(List.of(counter), Permits.exactly(cost)));
	}

	private long centralRemaining() {
		return join(this.central.acquire(List.of(this.counter), Permits.NONE)).statuses().get(0).remaining();
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

}
