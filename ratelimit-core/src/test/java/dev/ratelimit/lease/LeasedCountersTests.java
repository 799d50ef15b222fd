package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Settlement;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.memory.MemoryCounters;

import static dev.ratelimit.counter.Grants.unanswered;
import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

class LeasedCountersTests {

	private final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);

	private final Central central = new Central();

	private final Set<Counter> hot = new HashSet<>();

	private final LeasedCounters counters = new LeasedCounters(new FakeCounters(this.central.memory, this.central),
			LeaseOptions.DEFAULTS, () -> 1, this.hot::contains, (permits) -> {
			}, this.nanos::get, FakeCounters.NEVER);

	@Test
	void refusalIsRememberedUntilAPermitHasComeBack() {
		Counter counter = counter("ann", Enforcement.STRICT, "10/s");
		take(10, counter);
		Grant refused = take(1, counter);
		assertThat(refused.refused()).isTrue();
		assertThat(refused.source()).isEqualTo(Decision.Source.REDIS);
		int calls = this.central.calls;
		for (int i = 0; i < 99; i++) {
			pass(Duration.ofMillis(1));
			Grant again = take(1, counter);
			assertThat(again.refused()).isTrue();
			assertThat(again.source()).isEqualTo(Decision.Source.DENIED_CACHE);
			assertThat(again.statuses().get(0).retryAfterMicros()).isEqualTo((99 - i) * 1_000L);
		}
		assertThat(this.central.calls).isEqualTo(calls);
		pass(Duration.ofMillis(1));
		assertThat(take(1, counter).refused()).isFalse();
	}

	@Test
	void refusalOfALargeCostSaysNothingAboutSmallerOnes() {
		Counter counter = counter("ann", Enforcement.STRICT, "10/s");
		take(6, counter);
		assertThat(take(5, counter).refused()).isTrue();
		assertThat(take(4, counter).refused()).isFalse();
		assertThat(take(5, counter).source()).isEqualTo(Decision.Source.DENIED_CACHE);
	}

	@Test
	void refusalOfASmallCostHoldsForLargerOnes() {
		Counter counter = counter("ann", Enforcement.STRICT, "10/s");
		take(10, counter);
		take(1, counter);
		assertThat(take(3, counter).source()).isEqualTo(Decision.Source.DENIED_CACHE);
	}

	@Test
	void refusalIsForgottenAfterFiveSeconds() {
		Counter counter = counter("ann", Enforcement.STRICT, "10/d");
		take(10, counter);
		take(1, counter);
		pass(Duration.ofMillis(4_999));
		assertThat(take(1, counter).source()).isEqualTo(Decision.Source.DENIED_CACHE);
		pass(Duration.ofMillis(1));
		assertThat(take(1, counter).source()).isEqualTo(Decision.Source.REDIS);
	}

	@Test
	void refusalOfOneOfSeveralIsOnlyRememberedForTheOneThatRefused() {
		Counter full = counter("ann", Enforcement.STRICT, "10/d");
		Counter other = counter("acme", Enforcement.STRICT, "100/d");
		take(10, full);
		assertThat(take(1, full, other).refused()).isTrue();
		assertThat(take(1, full, other).source()).isEqualTo(Decision.Source.DENIED_CACHE);
		assertThat(take(1, other).refused()).isFalse();
		pass(Duration.ofMillis(101));
		assertThat(take(1, full, other).source()).isEqualTo(Decision.Source.REDIS);
	}

	@Test
	void resetAndGiveBackMakeItForgetRefusals() {
		Counter counter = counter("ann", Enforcement.STRICT, "10/d");
		Grant grant = take(10, counter);
		take(1, counter);
		join(this.counters.giveBack(grant, 1));
		assertThat(take(1, counter).refused()).isFalse();
		take(1, counter);
		join(this.counters.reset(List.of(counter)));
		assertThat(take(1, counter).refused()).isFalse();
	}

	@Test
	void limitThatWasChangedMakesItForgetRefusals() {
		take(10, counter("ann", Enforcement.STRICT, "10/d"));
		take(1, counter("ann", Enforcement.STRICT, "10/d"));
		assertThat(take(1, counter("ann", Enforcement.STRICT, "20/d")).source()).isEqualTo(Decision.Source.REDIS);
	}

	@Test
	void refusalToOneTierIsKeptWhileOthersComeBy() {
		Counter free = counter("acme", Enforcement.STRICT, "5/d");
		Counter pro = counter("acme", Enforcement.STRICT, "10/d");
		take(5, free);
		assertThat(take(1, free).refused()).isTrue();
		assertThat(take(6, pro).refused()).isTrue();
		int calls = this.central.calls;
		for (int i = 0; i < 100; i++) {
			assertThat(take(1, free).source()).isEqualTo(Decision.Source.DENIED_CACHE);
			assertThat(take(6, pro).source()).isEqualTo(Decision.Source.DENIED_CACHE);
		}
		assertThat(this.central.calls).isEqualTo(calls);
		join(this.counters.reset(List.of(pro)));
		assertThat(take(1, free).refused()).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASED", "ADAPTIVE" })
	void busyCounterIsAnsweredFromLeases(Enforcement enforcement) {
		Counter counter = counter("acme", enforcement, "10000/s");
		this.hot.add(counter);
		int leased = 0;
		for (int i = 0; i < 5_000; i++) {
			pass(Duration.ofNanos(200_000));
			leased += (take(1, counter).source() == Decision.Source.LEASE) ? 1 : 0;
		}
		assertThat(leased).isGreaterThan(4_800);
		assertThat(this.central.calls).isLessThan(150);
	}

	@Test
	void callersOfDifferentTiersKeepTheirLeases() {
		Counter free = counter("acme", Enforcement.LEASED, "10000/s");
		Counter pro = counter("acme", Enforcement.LEASED, "50000/s");
		int leased = 0;
		for (int i = 0; i < 5_000; i++) {
			pass(Duration.ofNanos(200_000));
			leased += (take(1, (i % 2 == 0) ? free : pro).source() == Decision.Source.LEASE) ? 1 : 0;
		}
		assertThat(leased).isGreaterThan(4_800);
		assertThat(this.central.calls).isLessThan(300);
	}

	@Test
	void heldAndForgottenIsWhatAllTiersHave() {
		Counter free = counter("acme", Enforcement.LEASED, "10000/s");
		Counter pro = counter("acme", Enforcement.LEASED, "50000/s");
		warm(free);
		long held = this.counters.held(pro);
		assertThat(held).isPositive();
		warm(pro);
		assertThat(this.counters.held(free)).isGreaterThan(held).isEqualTo(this.counters.held(pro));
		this.counters.forget(Set.of(free.key()));
		assertThat(this.counters.held(free)).isZero();
		assertThat(take(1, free).source()).isEqualTo(Decision.Source.REDIS);
		assertThat(take(1, pro).source()).isEqualTo(Decision.Source.REDIS);
	}

	@Test
	void adaptiveCounterThatIsNotHotIsStrict() {
		Counter counter = counter("acme", Enforcement.ADAPTIVE, "10000/s");
		for (int i = 0; i < 1_000; i++) {
			pass(Duration.ofNanos(200_000));
			assertThat(take(1, counter).source()).isEqualTo(Decision.Source.REDIS);
		}
	}

	@Test
	void quietCounterIsStrict() {
		Counter counter = counter("ann", Enforcement.LEASED, "100/s");
		for (int i = 0; i < 50; i++) {
			pass(Duration.ofMillis(200));
			assertThat(take(1, counter).source()).isEqualTo(Decision.Source.REDIS);
		}
		assertThat(this.central.calls).isEqualTo(50);
	}

	@Test
	void refusalByAStrictLimitPutsBackWhatWasSpentOfALease() {
		Counter leased = counter("acme", Enforcement.LEASED, "10000/s");
		warm(leased);
		Counter full = counter("ann", Enforcement.STRICT, "1/d");
		take(1, full);
		long before = remaining(take(1, leased));
		for (int i = 0; i < 50; i++) {
			assertThat(take(1, leased, full).refused()).isTrue();
		}
		assertThat(remaining(take(1, leased))).isEqualTo(before - 1);
	}

	@Test
	void leaseServesWhileRedisDoesNotAnswerAndNoLongerThanItsLife() {
		Counter counter = counter("acme", Enforcement.LEASED, "10000/s");
		warm(counter);
		this.central.failing = true;
		assertThat(take(1, counter).source()).isEqualTo(Decision.Source.LEASE);
		pass(Duration.ofSeconds(2));
		Grant.Gap gap = unanswered(this.counters.acquire(List.of(counter), Permits.exactly(1)));
		assertThat(gap.cause().reason()).isEqualTo(Decision.Reason.BREAKER_OPEN);
	}

	@Test
	void leaseThatTookThePermitsOfARefusedRequestIsSpentForIt() {
		Counter counter = counter("acme", Enforcement.LEASED, "100/d");
		take(1, counter);
		take(30, counter);
		this.central.holding = true;
		List<CompletableFuture<Grant>> answers = new ArrayList<>();
		for (int i = 0; i < 69; i++) {
			pass(Duration.ofNanos(100_000));
			answers.add(this.counters.acquire(List.of(counter), Permits.exactly(1)).toCompletableFuture());
		}
		this.central.release();
		assertThat(answers).noneMatch((answer) -> join(answer).refused());
		assertThat(answers).anyMatch((answer) -> join(answer).source() == Decision.Source.LEASE);
	}

	@Test
	void leaseComesAlongWithTheRequestThatNeedsIt() {
		Counter counter = counter("acme", Enforcement.LEASED, "100/d");
		take(1, counter);
		pass(Duration.ofMillis(20));
		Grant grant = take(20, counter);
		assertThat(this.central.calls).isEqualTo(2);
		assertThat(grant.permits()).isEqualTo(20);
		assertThat(remaining(grant)).isEqualTo(79);
		assertThat(this.counters.held(counter)).isPositive();
		assertThat(remaining(take(1, counter))).isEqualTo(78);
		assertThat(this.central.calls).isEqualTo(2);
	}

	@Test
	void requestForSeveralCountersIsAskedBeforeTheirLeases() {
		Counter tenant = counter("acme", Enforcement.LEASED, "100/d");
		Counter user = counter("ann", Enforcement.LEASED, "100/d");
		take(1, tenant, user);
		pass(Duration.ofMillis(20));
		take(40, tenant, user);
		assertThat(this.central.asked).containsExactly(List.of(tenant, user), List.of(tenant, user), List.of(tenant),
				List.of(user));
	}

	@Test
	void leasesAndRedisPayTogetherWhatNeitherHasAlone() {
		Counter counter = counter("acme", Enforcement.LEASED, "1000/d");
		warm(counter);
		long held = this.counters.held(counter);
		long left = 1_000 - this.central.spent - held;
		assertThat(held).isPositive();
		assertThat(take(held + left, counter).refused()).isFalse();
		assertThat(this.counters.held(counter)).isZero();
		assertThat(take(1, counter).refused()).isTrue();
	}

	@Test
	void leasesOfSeveralCountersAndRedisPayTogether() {
		Counter tenant = counter("acme", Enforcement.LEASED, "100/d");
		Counter user = counter("ann", Enforcement.LEASED, "100/d");
		take(1, tenant, user);
		pass(Duration.ofMillis(20));
		take(9, tenant, user);
		assertThat(this.counters.held(tenant)).isPositive();
		assertThat(take(90, tenant, user).refused()).isFalse();
		assertThat(take(1, user).refused()).isTrue();
	}

	@Test
	void leaseOfACounterThatDoesNotAnswerTheSecondCallKeepsItsPermits() {
		Counter tenant = counter("acme", Enforcement.LEASED, "100/d");
		Counter user = counter("ann", Enforcement.LEASED, "100/d");
		take(1, tenant, user);
		pass(Duration.ofMillis(20));
		take(9, tenant, user);
		long held = this.counters.held(user);
		assertThat(held).isPositive();
		this.central.silent = user;
		Grant grant = take(90, tenant, user);
		assertThat(grant.gaps()).singleElement().satisfies((gap) -> assertThat(gap.counters()).containsExactly(user));
		assertThat(this.counters.held(tenant)).isZero();
		assertThat(this.counters.held(user)).isEqualTo(held);
	}

	@Test
	void secondAnswerToARequestPutsNothingBack() {
		AnsweringTwice twice = new AnsweringTwice(this.central.memory);
		try (LeasedCounters counters = new LeasedCounters(twice, LeaseOptions.DEFAULTS, () -> 1, (counter) -> true,
				(permits) -> {
				}, this.nanos::get, FakeCounters.NEVER)) {
			Counter tenant = counter("acme", Enforcement.LEASED, "1000/d");
			Counter user = counter("ann", Enforcement.STRICT, "1000/d");
			join(counters.acquire(List.of(tenant), Permits.exactly(1)));
			pass(Duration.ofMillis(20));
			join(counters.acquire(List.of(tenant), Permits.exactly(9)));
			long held = counters.held(tenant);
			assertThat(held).isPositive();
			twice.again = true;
			assertThat(join(counters.acquire(List.of(tenant, user), Permits.exactly(1))).permits()).isOne();
			assertThat(counters.held(tenant)).isEqualTo(held - 1);
		}
	}

	@Test
	void leasesKeepTheirPermitsWhereTheyAreNotEnough() {
		Counter counter = counter("acme", Enforcement.LEASED, "1000/d");
		warm(counter);
		long held = this.counters.held(counter);
		assertThat(take(1_000 - this.central.spent + 1, counter).refused()).isTrue();
		assertThat(this.counters.held(counter)).isEqualTo(held);
		assertThat(take(1, counter).source()).isEqualTo(Decision.Source.LEASE);
	}

	@Test
	void lateAnswerIsDividedBetweenTheRequestAndItsLease() {
		Counter counter = counter("acme", Enforcement.LEASED, "1000/d");
		take(1, counter);
		pass(Duration.ofMillis(20));
		this.central.slow = true;
		CompletionStage<Grant> late = unanswered(this.counters.acquire(List.of(counter), Permits.exactly(20))).late();
		this.central.release();
		assertThat(join(late).permits()).isEqualTo(20);
		long held = this.counters.held(counter);
		assertThat(held).isPositive();
		join(this.counters.giveBack(join(late), 20));
		assertThat(remaining(join(this.central.memory.acquire(List.of(counter), Permits.NONE))))
			.isEqualTo(1_000 - 1 - held);
	}

	@Test
	void costThatNeverFitsKeepsNoPermitsFromBeingLeased() {
		Counter counter = counter("acme", Enforcement.LEASED, "10000/s");
		for (int i = 0; i < 100; i++) {
			assertThat(take(10_001, counter).refused()).isTrue();
		}
		warm(counter);
	}

	@Test
	void remainingCountsDownByWhatIsSpentHere() {
		Counter counter = counter("acme", Enforcement.LEASED, "10000/s");
		warm(counter);
		long before = remaining(take(1, counter));
		assertThat(remaining(take(1, counter))).isEqualTo(before - 1);
		assertThat(remaining(take(3, counter))).isEqualTo(before - 4);
	}

	@Test
	void unspentPermitsAreGivenBackAtTheEnd() {
		Counter counter = counter("acme", Enforcement.LEASED, "10000/d");
		warm(counter);
		this.counters.close();
		long left = join(this.central.memory.acquire(List.of(counter), Permits.NONE)).statuses().get(0).remaining();
		assertThat(10_000 - left).isEqualTo(this.central.spent);
	}

	@Test
	void unspentPermitsOfAllTiersAreGivenBackAtTheEnd() {
		Counter free = counter("acme", Enforcement.LEASED, "10000/d");
		Counter pro = new Counter(
				new CounterSpec(Algorithm.GCRA, free.spec().limit(), Enforcement.LEASED, new LiveWindows()), "acme");
		warm(free);
		warm(pro);
		this.counters.close();
		long left = join(this.central.memory.acquire(List.of(free), Permits.NONE)).statuses().get(0).remaining();
		assertThat(10_000 - left).isEqualTo(this.central.spent);
	}

	@Test
	void leaseOfALimitThatWasChangedIsNotSpent() {
		warm(counter("acme", Enforcement.LEASED, "10000/s"));
		assertThat(take(1, counter("acme", Enforcement.LEASED, "5000/s")).source()).isEqualTo(Decision.Source.REDIS);
	}

	private void warm(Counter counter) {
		for (int i = 0; i < 500; i++) {
			pass(Duration.ofNanos(200_000));
			take(1, counter);
		}
		assertThat(take(1, counter).source()).isEqualTo(Decision.Source.LEASE);
	}

	private Grant take(long permits, Counter... counters) {
		Grant grant = join(this.counters.acquire(List.of(counters), Permits.exactly(permits)));
		this.central.spent += grant.permits();
		return grant;
	}

	private static long remaining(Grant grant) {
		return grant.statuses().stream().mapToLong(LimitStatus::remaining).findFirst().orElseThrow();
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

	private Counter counter(String key, Enforcement enforcement, String quota) {
		return new Counter(this.central.spec(enforcement, quota), key);
	}

	/**
	 * Answers again, with a gap, as the guard does if an answer cannot be handed over.
	 */
	private static final class AnsweringTwice implements Counters {

		private final MemoryCounters memory;

		private boolean again;

		AnsweringTwice(MemoryCounters memory) {
			this.memory = memory;
		}

		@Override
		public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
				Consumer<Grant> answer) {
			this.memory.acquire(counters, permits, attempt, timeout, answer);
			if (this.again) {
				answer.accept(Grant.unanswered(permits, counters,
						new UnansweredException(Decision.Reason.INTERNAL, "could not be handed over")));
			}
		}

		@Override
		public CompletionStage<Void> giveBack(Grant grant, long permits) {
			return this.memory.giveBack(grant, permits);
		}

		@Override
		public CompletionStage<Settlement> settle(Correction correction) {
			return this.memory.settle(correction);
		}

		@Override
		public CompletionStage<Void> reset(List<Counter> counters) {
			return this.memory.reset(counters);
		}

		@Override
		public Decision.Source source() {
			return Decision.Source.REDIS;
		}

	}

	/**
	 * Answers at once, late or not at all.
	 */
	private final class Central implements FakeCounters.Answer {

		private final MemoryCounters memory = new MemoryCounters(1_000,
				() -> LeasedCountersTests.this.nanos.get() / 1_000, LeasedCountersTests.this.nanos::get);

		private final List<CounterSpec> specs = new ArrayList<>();

		private int calls;

		private long spent;

		private boolean failing;

		private boolean holding;

		private boolean slow;

		/** Does not answer together with others, except where those refuse. */
		private Counter silent;

		private final List<List<Counter>> asked = new ArrayList<>();

		private final List<Runnable> held = new ArrayList<>();

		/** One per limit, as in a policy. */
		CounterSpec spec(Enforcement enforcement, String quota) {
			CounterSpec fresh = new CounterSpec(Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), quota),
					enforcement, new LiveWindows());
			return this.specs.stream()
				.filter((known) -> known.limit().equals(fresh.limit()) && known.enforcement() == enforcement)
				.findFirst()
				.orElseGet(() -> {
					this.specs.add(fresh);
					return fresh;
				});
		}

		@Override
		public CompletionStage<Grant> to(List<Counter> counters, Permits permits, Duration timeout) {
			this.calls++;
			this.asked.add(counters);
			if (this.holding || this.slow) {
				CompletableFuture<Grant> stage = new CompletableFuture<>();
				Grant grant = answer(counters, permits);
				this.held.add(() -> stage.complete(grant));
				return this.holding ? stage : CompletableFuture.completedStage(Grant.unanswered(permits,
						new Grant.Gap(counters, new UnansweredException(Decision.Reason.TIMEOUT, "slow"), stage)));
			}
			if (this.silent != null && counters.size() > 1 && counters.contains(this.silent) && permits.most() < 90) {
				List<Counter> others = counters.stream().filter((counter) -> counter != this.silent).toList();
				return CompletableFuture.completedStage(answer(others, permits).with(new Grant.Gap(List.of(this.silent),
						new UnansweredException(Decision.Reason.TIMEOUT, "silent"))));
			}
			return this.failing
					? CompletableFuture.completedStage(Grant.unanswered(permits, counters,
							new UnansweredException(Decision.Reason.BREAKER_OPEN, "open")))
					: CompletableFuture.completedStage(answer(counters, permits));
		}

		private Grant answer(List<Counter> counters, Permits permits) {
			Grant grant = join(this.memory.acquire(counters, permits));
			return FakeCounters.asRedis(grant, List.of());
		}

		/** Lets answers arrive, in the order in which they were given. */
		void release() {
			this.holding = false;
			this.slow = false;
			this.held.forEach(Runnable::run);
		}

	}

}
