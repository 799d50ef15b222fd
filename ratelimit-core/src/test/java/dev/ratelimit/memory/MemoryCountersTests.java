package dev.ratelimit.memory;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

class MemoryCountersTests {

	private static final int THREADS = 8;

	private final AtomicLong micros = new AtomicLong(Duration.ofDays(20_000).toSeconds() * 1_000_000);

	private final AtomicLong nanos = new AtomicLong();

	private final MemoryCounters counters = new MemoryCounters(10_000, this.micros::get, this.nanos::get);

	@ParameterizedTest
	@EnumSource
	void requestsOverOverlappingCountersTakeFromAllOfTheirsOrFromNone(Algorithm algorithm) throws Exception {
		Counter a = counter(algorithm, "a", "3000/h");
		Counter b = counter(algorithm, "b", "2500/h");
		Counter c = counter(algorithm, "c", "2000/h");
		List<List<Counter>> sets = List.of(List.of(a, b), List.of(b, c), List.of(c, a), List.of(a));
		LongAdder[] admitted = adders(sets.size());
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 1_500; i++) {
				int set = random.nextInt(sets.size());
				admitted[set].add(take(random.nextLong(1, 4), sets.get(set)).permits());
			}
		});
		assertThat(used(a, 3_000)).isEqualTo(admitted[0].sum() + admitted[2].sum() + admitted[3].sum())
			.isBetween(1L, 3_000L);
		assertThat(used(b, 2_500)).isEqualTo(admitted[0].sum() + admitted[1].sum()).isBetween(1L, 2_500L);
		assertThat(used(c, 2_000)).isEqualTo(admitted[1].sum() + admitted[2].sum()).isBetween(1L, 2_000L);
	}

	@ParameterizedTest
	@EnumSource
	void counterThatIsTheOnlyBottleneckIsUsedUpExactly(Algorithm algorithm) throws Exception {
		Counter wide = counter(algorithm, "a", "10000/h");
		Counter narrow = counter(algorithm, "b", "1000/h");
		Counter other = counter(algorithm, "c", "10000/h");
		LongAdder left = new LongAdder();
		LongAdder right = new LongAdder();
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 400; i++) {
				boolean first = random.nextBoolean();
				(first ? left : right).add(take(1, first ? List.of(wide, narrow) : List.of(narrow, other)).permits());
			}
		});
		assertThat(left.sum() + right.sum()).isEqualTo(1_000);
		assertThat(used(wide, 10_000)).isEqualTo(left.sum());
		assertThat(used(other, 10_000)).isEqualTo(right.sum());
	}

	@ParameterizedTest
	@EnumSource
	void requestsThatAreRefusedThemselvesRefuseNobodyElse(Algorithm algorithm) throws Exception {
		Counter shared = counter(algorithm, "shared", "4000/h");
		Counter usedUp = counter(algorithm, "used-up", "1/h");
		take(1, List.of(usedUp));
		LongAdder admitted = new LongAdder();
		LongAdder wronglyAdmitted = new LongAdder();
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 1_000; i++) {
				if (i % 2 == 0) {
					admitted.add(take(1, List.of(shared)).permits());
				}
				else {
					wronglyAdmitted.add(take(random.nextLong(1, 100), List.of(shared, usedUp)).permits());
				}
			}
		});
		assertThat(admitted.sum()).isEqualTo(4_000);
		assertThat(wronglyAdmitted.sum()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void whatIsTakenAndGivenBackByManyIsAllThereInTheEnd(Algorithm algorithm) throws Exception {
		Counter a = counter(algorithm, "a", "5000/h");
		Counter b = counter(algorithm, "b", "5000/h", "6000/d");
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 1_000; i++) {
				Grant grant = take(random.nextLong(1, 10), List.of(a, b));
				this.counters.giveBack(grant, grant.permits());
			}
		});
		assertThat(used(a, 5_000)).isZero();
		assertThat(used(b, 5_000)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void partIsTakenInWholeUnits(Algorithm algorithm) throws Exception {
		Counter a = counter(algorithm, "a", "1000/h");
		Counter b = counter(algorithm, "b", "2000/h");
		LongAdder admitted = new LongAdder();
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 100; i++) {
				Grant grant = join(this.counters.acquire(List.of(a, b), new Permits(3, 3, 12)));
				assertThat(grant.permits() % 3).isZero();
				admitted.add(grant.permits());
			}
		});
		assertThat(admitted.sum()).isEqualTo(999);
		assertThat(used(b, 2_000)).isEqualTo(999);
	}

	@Test
	void refusalTakesNothingFromTheOtherCounters() {
		Counter full = counter(Algorithm.GCRA, "full", "10/h");
		Counter narrow = counter(Algorithm.GCRA, "narrow", "1/h");
		Grant refused = take(2, List.of(full, narrow));
		assertThat(refused.refused()).isTrue();
		assertThat(refused.permits()).isZero();
		assertThat(refused.statuses()).extracting(LimitStatus::retryAfterMicros).containsExactly(0L, LimitStatus.NEVER);
		assertThat(used(full, 10)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void resetForgetsOneCounterAndLeavesTheOthers(Algorithm algorithm) {
		Counter a = counter(algorithm, "a", "10/h");
		Counter b = counter(algorithm, "b", "10/h");
		take(7, List.of(a, b));
		join(this.counters.reset(List.of(a)));
		assertThat(used(a, 10)).isZero();
		assertThat(used(b, 10)).isEqualTo(7);
	}

	@ParameterizedTest
	@EnumSource
	void givingBackAPartLeavesTheRest(Algorithm algorithm) {
		Counter a = counter(algorithm, "a", "10/h");
		Counter b = counter(algorithm, "b", "10/h");
		Grant grant = take(7, List.of(a, b));
		join(this.counters.giveBack(grant, 3));
		assertThat(used(a, 10)).isEqualTo(4);
		assertThat(used(b, 10)).isEqualTo(4);
	}

	@ParameterizedTest
	@EnumSource
	void givingBackToACounterThatWasResetChangesNothing(Algorithm algorithm) {
		Counter counter = counter(algorithm, "a", "10/h");
		Grant grant = take(7, List.of(counter));
		join(this.counters.reset(List.of(counter)));
		join(this.counters.giveBack(grant, 7));
		assertThat(used(counter, 10)).isZero();
	}

	@Test
	void noMoreCountersAreKeptThanSaid() {
		CounterSpec spec = spec(Algorithm.GCRA, "10/h");
		for (int i = 0; i < 200_000; i++) {
			take(1, List.of(new Counter(spec, "key-" + i)));
		}
		assertThat(this.counters.size()).isBetween(1L, 10_000L);
	}

	@Test
	void noMoreCountersAreKeptThanSaidWhenManyComeAtOnce() throws Exception {
		CounterSpec spec = spec(Algorithm.GCRA, "10/h");
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 3_000; i++) {
				take(1, List.of(new Counter(spec, "key-" + random.nextLong()), new Counter(spec, "key-" + i)));
			}
		});
		assertThat(this.counters.size()).isBetween(1L, 10_000L);
	}

	@Test
	void counterGoesOnceItsStateCannotMatter() {
		take(1, List.of(counter(Algorithm.GCRA, "second", "10/s")));
		take(1, List.of(counter(Algorithm.GCRA, "hour", "10/h")));
		assertThat(this.counters.size()).isEqualTo(2);
		advance(Duration.ofMillis(2_500));
		assertThat(this.counters.size()).isOne();
		advance(Duration.ofHours(2));
		assertThat(this.counters.size()).isZero();
	}

	@Test
	void counterStaysWhileItIsUsed() {
		Counter counter = counter(Algorithm.GCRA, "a", "10/s");
		for (int i = 0; i < 10; i++) {
			take(1, List.of(counter));
			advance(Duration.ofMillis(1_900));
		}
		assertThat(this.counters.size()).isOne();
	}

	@Test
	void counterOutlivesItsOldWindowOnceALongerOneIsUsed() {
		take(1, List.of(counter(Algorithm.FIXED_WINDOW, "a", "10/s")));
		Counter changed = counter(Algorithm.FIXED_WINDOW, "a", "10/d");
		assertThat(take(10, List.of(changed)).permits()).isEqualTo(10);
		advance(Duration.ofSeconds(5));
		assertThat(take(1, List.of(changed)).refused()).isTrue();
	}

	@Test
	void counterStaysWhenTheClockThatDecidesIsSetForward() {
		Counter counter = counter(Algorithm.GCRA, "a", "10/h");
		take(10, List.of(counter));
		this.micros.addAndGet(Duration.ofDays(365).toSeconds() * 1_000_000);
		assertThat(this.counters.size()).isOne();
		assertThat(used(counter, 10)).isZero();
	}

	@Test
	void refusalAfterTheClockWasSetBackIsStoredSoThatTheWaitEnds() {
		Counter counter = counter(Algorithm.GCRA, "a", "10/m");
		take(10, List.of(counter));
		this.micros.addAndGet(-Duration.ofDays(365).toSeconds() * 1_000_000);
		for (int i = 0; i < 6; i++) {
			assertThat(take(1, List.of(counter)).refused()).isTrue();
			this.micros.addAndGet(1_000_000);
		}
		assertThat(take(1, List.of(counter)).refused()).isFalse();
	}

	@Test
	void namesMemoryAsItsSource() {
		assertThat(this.counters.source()).isEqualTo(Decision.Source.MEMORY);
	}

	@Test
	void systemClockIsInMicrosecondsSince1970() {
		long before = System.currentTimeMillis();
		long micros = MemoryCounters.systemMicros();
		assertThat(micros / 1_000).isBetween(before, System.currentTimeMillis());
	}

	private void advance(Duration time) {
		this.micros.addAndGet(time.toNanos() / 1_000);
		this.nanos.addAndGet(time.toNanos());
	}

	private Grant take(long cost, List<Counter> counters) {
		return join(this.counters.acquire(counters, Permits.exactly(cost)));
	}

	private long used(Counter counter, long permits) {
		Grant peek = join(this.counters.acquire(List.of(counter), Permits.NONE));
		return permits - peek.statuses().get(0).remaining();
	}

	private static Counter counter(Algorithm algorithm, String key, String... quotas) {
		return new Counter(spec(algorithm, quotas), key);
	}

	private static CounterSpec spec(Algorithm algorithm, String... quotas) {
		return new CounterSpec(algorithm, Limit.of("per-user", List.of(Dimension.USER), quotas));
	}

	private static LongAdder[] adders(int count) {
		LongAdder[] adders = new LongAdder[count];
		Arrays.setAll(adders, (i) -> new LongAdder());
		return adders;
	}

}
