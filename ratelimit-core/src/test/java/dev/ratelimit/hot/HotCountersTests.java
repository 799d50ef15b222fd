package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;

class HotCountersTests {

	private static final CounterSpec SPEC = new CounterSpec(Algorithm.GCRA,
			Limit.of("per-tenant", List.of(Dimension.TENANT), "1000000/s"), Enforcement.ADAPTIVE);

	private final AtomicLong nanos = new AtomicLong();

	private final AtomicInteger instances = new AtomicInteger(1);

	private final HotCounters hot = new HotCounters(10_000, 100, this.instances::get, this.nanos::get);

	@Test
	void counterAboveTheThresholdIsHotWithinHalfASecond() {
		assertThat(hotAfter("acme", 11_000, Duration.ofMillis(500))).isTrue();
	}

	@Test
	void counterBelowTheThresholdIsNot() {
		assertThat(hotAfter("acme", 9_000, Duration.ofSeconds(3))).isFalse();
	}

	@Test
	void instanceOfAFleetNeedsItsShareOnly() {
		this.instances.set(4);
		assertThat(hotAfter("acme", 2_800, Duration.ofMillis(500))).isTrue();
	}

	@Test
	void counterStaysHotAroundTheThresholdAndCoolsDownBelowHalfOfIt() {
		hotAfter("acme", 11_000, Duration.ofMillis(500));
		assertThat(hotAfter("acme", 6_000, Duration.ofSeconds(5))).isTrue();
		assertThat(hotAfter("acme", 4_000, Duration.ofMillis(500))).isTrue();
		assertThat(hotAfter("acme", 4_000, Duration.ofSeconds(2))).isFalse();
	}

	@Test
	void manyQuietCountersDoNotLookHot() {
		for (int i = 0; i < 1_000_000; i++) {
			assertThat(this.hot.test(counter("tenant" + i))).isFalse();
			this.nanos.addAndGet(10_000);
		}
		assertThat(this.hot.size()).isZero();
	}

	@Test
	void numberOfHotCountersIsBounded() {
		for (int i = 0; i < 200; i++) {
			for (int n = 0; n < 3_000; n++) {
				this.hot.test(counter("tenant" + i));
			}
		}
		assertThat(this.hot.size()).isEqualTo(100);
	}

	private boolean hotAfter(String tenant, int perSecond, Duration time) {
		long end = this.nanos.get() + time.toNanos();
		boolean isHot = false;
		while (this.nanos.get() < end) {
			isHot = this.hot.test(counter(tenant));
			this.nanos.addAndGet(1_000_000_000L / perSecond);
		}
		return isHot;
	}

	private static Counter counter(String tenant) {
		return new Counter(SPEC, tenant);
	}

}
