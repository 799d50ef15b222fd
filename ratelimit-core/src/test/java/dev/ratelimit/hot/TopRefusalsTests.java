package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

class TopRefusalsTests {

	private static final CounterSpec SPEC = new CounterSpec(Algorithm.GCRA,
			Limit.of("per-tenant", List.of(Dimension.TENANT), "10/s"));

	private final AtomicLong nanos = new AtomicLong();

	private final TopRefusals refusals = new TopRefusals(this.nanos::get);

	@Test
	void countersThatRefuseMostComeFirst() {
		refuse("acme", 3);
		refuse("globex", 5);
		refuse("initech", 1);
		assertThat(this.refusals.seen(2)).containsExactly(new RefusedKey(name("globex"), 5),
				new RefusedKey(name("acme"), 3));
	}

	@Test
	void minuteSlides() {
		refuse("acme", 600);
		pass(Duration.ofSeconds(60));
		assertThat(this.refusals.seen(1)).containsExactly(new RefusedKey(name("acme"), 600));
		pass(Duration.ofSeconds(30));
		refuse("acme", 10);
		assertThat(this.refusals.seen(1)).containsExactly(new RefusedKey(name("acme"), 310));
	}

	@Test
	void counterThatHasStoppedRefusingGoes() {
		refuse("acme", 600);
		pass(Duration.ofSeconds(60));
		this.refusals.seen(1);
		pass(Duration.ofSeconds(60));
		assertThat(this.refusals.seen(1)).isEmpty();
		refuse("globex", 1);
		pass(Duration.ofMinutes(10));
		assertThat(this.refusals.seen(1)).isEmpty();
	}

	@Test
	void heavyHittersAreFoundAmongAHundredThousandOthers() {
		for (int i = 0; i < 100_000; i++) {
			refuse("quiet-" + i, 1);
			if (i % 100 == 0) {
				refuse("acme", 20);
				refuse("globex", 10);
			}
		}
		List<RefusedKey> top = this.refusals.seen(2);
		assertThat(top).extracting(RefusedKey::name).containsExactly(name("acme"), name("globex"));
		// One in 8,192 of all 130,000 shares a cell with it, sixteen on the average.
		assertThat(top.get(0).refusals()).isBetween(20_000L, 20_050L);
		assertThat(top.get(1).refusals()).isBetween(10_000L, 10_050L);
	}

	@Test
	void whatIsKeptIsBoundedWhateverCallersSend() {
		for (int i = 0; i < 100_000; i++) {
			refuse("quiet-" + i % 10_000, 1);
		}
		assertThat(this.refusals.seen(100_000)).hasSizeLessThanOrEqualTo(TopRefusals.MAX_KNOWN);
	}

	@Test
	void aFullTableOfYesterdaysDoesNotKeepOutWhatRefusesMoreNow() {
		for (int i = 0; i < TopRefusals.MAX_KNOWN; i++) {
			refuse("old-" + i, 5);
		}
		pass(Duration.ofSeconds(60));
		this.refusals.seen(1);
		refuse("acme", 100);
		assertThat(this.refusals.seen(1)).extracting(RefusedKey::name).containsExactly(name("acme"));
	}

	@Test
	void counterThatRefusesARequestIsCountedUnlessItsPolicyIsInShadow() {
		PolicySet policies = PolicySet.of(Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "3/m")
			.limit("per-tenant", List.of(Dimension.TENANT), "5/m")
			.build(), Policy.builder("shadow").shadow(true).limit("all", List.of(), "1/m").build());
		MemoryCounters counters = new MemoryCounters(100, () -> 0);
		PolicyRateLimiter limiter = RateLimiterBuilder.on(counters)
			.policies(() -> policies)
			.fallback(Fallback.to(counters))
			.listeners(List.of(this.refusals))
			.build();
		Request ann = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.USER, "ann");
		limiter.checkNow(ann.withCost(3));
		limiter.checkNow(ann);
		limiter.checkNow(ann.with(Dimension.USER, "bob").withCost(2));
		limiter.checkNow(ann.with(Dimension.USER, "cid"));
		limiter.checkNow(Request.of("shadow").withCost(2));
		assertThat(this.refusals.seen(10)).extracting((key) -> key.name().limit())
			.containsExactlyInAnyOrder("per-user", "per-tenant");
	}

	private void refuse(String tenant, int times) {
		for (int i = 0; i < times; i++) {
			this.refusals.count(counter(tenant));
		}
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

	private static CounterName name(String tenant) {
		return CounterName.of(counter(tenant));
	}

	private static Counter counter(String tenant) {
		return new Counter(SPEC, new CounterKeys("rl"), "orders", List.of(tenant));
	}

}
