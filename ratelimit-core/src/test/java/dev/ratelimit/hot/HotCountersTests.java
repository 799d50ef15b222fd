package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LONG;

class HotCountersTests {

	private static final CounterSpec SPEC = new CounterSpec(Algorithm.GCRA,
			Limit.of("per-tenant", List.of(Dimension.TENANT), "1000000/s"), Enforcement.ADAPTIVE, new LiveWindows());

	private static final long SECOND_NANOS = Duration.ofSeconds(1).toNanos();

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
	void inALargeFleetEightChecksInAnIntervalAreEnoughAndFewerAreNot() {
		HotCounters large = large();
		for (int interval = 0; interval < 20; interval++) {
			for (int i = 0; i < 7; i++) {
				assertThat(countAndAsk(large, counter("acme"))).isFalse();
			}
			passAnInterval(large);
		}
		for (int i = 0; i < 7; i++) {
			assertThat(countAndAsk(large, counter("acme"))).isFalse();
		}
		assertThat(countAndAsk(large, counter("acme"))).isTrue();
	}

	@Test
	void instanceOfALargeFleetThatSeesEnoughByItselfLeasesWithinHalfASecond() {
		for (int start = 0; start < 250; start += 10) {
			HotCounters large = large();
			this.nanos.addAndGet(Duration.ofMillis(start).toNanos());
			boolean isHot = false;
			for (int i = 0; i < 20; i++) {
				large.turnIfDue();
				isHot = countAndAsk(large, counter("acme"));
				this.nanos.addAndGet(Duration.ofMillis(25).toNanos());
			}
			assertThat(isHot).isTrue();
		}
	}

	@Test
	void inALargeFleetACounterThatIsAskedOnceIsNeitherHotNorTold() {
		HotCounters large = large();
		for (int i = 0; i < 5_000; i++) {
			assertThat(countAndAsk(large, counter("tenant" + i))).isFalse();
			this.nanos.addAndGet(Duration.ofMillis(2).toNanos());
			large.turnIfDue();
			assertThat(large.seen(100)).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 2, 5, 7 })
	void inALargeFleetAFewChecksASecondAreTold(long perSecond) {
		HotCounters large = large();
		for (int i = 0; i < 5 * perSecond; i++) {
			large.count(counter("acme"));
			for (int step = 0; step < 50; step++) {
				this.nanos.addAndGet(SECOND_NANOS / perSecond / 50);
				large.turnIfDue();
			}
		}
		assertThat(large.seen(100)).singleElement()
			.extracting(HotKey::perSecond, LONG)
			.isBetween(perSecond - 1, perSecond + 1);
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
			assertThat(countAndAsk(this.hot, counter("tenant" + i))).isFalse();
			this.nanos.addAndGet(10_000);
		}
		assertThat(this.hot.size()).isZero();
	}

	@Test
	void numberOfHotCountersIsBounded() {
		for (int i = 0; i < 200; i++) {
			for (int n = 0; n < 3_000; n++) {
				this.hot.count(counter("tenant" + i));
			}
		}
		assertThat(this.hot.size()).isEqualTo(100);
	}

	@Test
	void aMillionBusyCountersTakeNoMoreRoomThanAFewAndTheBusiestIsStillFound() {
		HotCounters crowd = new HotCounters(100, 10_000, () -> 1, this.nanos::get);
		for (int i = 0; i < 1_000_000; i++) {
			crowd.count(counter("tenant" + i));
			crowd.count(counter("tenant" + i));
			if (i % 10 == 0) {
				crowd.count(counter("acme"));
			}
			this.nanos.addAndGet(100_000);
			if (i % 10_000 == 9_999) {
				assertThat(crowd.seen(10_000)).hasSizeLessThanOrEqualTo(512);
				assertThat(crowd.seen(1)).singleElement()
					.satisfies((key) -> assertThat(key.name().key()).isEqualTo("acme"));
			}
		}
		assertThat(crowd.size()).isEqualTo(1);
	}

	@Test
	void candidatesAreToldWithTheirRates() {
		hotAfter("acme", 2_000, Duration.ofSeconds(2));
		assertThat(this.hot.seen(10)).singleElement().satisfies((key) -> {
			assertThat(key.name()).isEqualTo(CounterName.of(counter("acme")));
			assertThat(key.perSecond()).isBetween(1_900L, 2_100L);
		});
		assertThat(this.hot.size()).isZero();
	}

	@Test
	void rareCounterIsNoCandidate() {
		hotAfter("acme", 500, Duration.ofSeconds(2));
		assertThat(this.hot.seen(10)).isEmpty();
	}

	@Test
	void whatIsHotOverTheFleetIsHotHereHoweverRare() {
		assertThat(countAndAsk(this.hot, counter("acme"))).isFalse();
		learn(key("acme", 10_000), null);
		assertThat(countAndAsk(this.hot, counter("acme"))).isTrue();
		assertThat(countAndAsk(this.hot, counter("globex"))).isFalse();
	}

	@Test
	void staysHotWhileTheFleetIsAboveHalfOfTheThreshold() {
		learn(key("acme", 12_000), null);
		hotAfter("acme", 10, Duration.ofSeconds(1));
		learn(key("acme", 5_000), null);
		assertThat(hotAfter("acme", 10, Duration.ofSeconds(5))).isTrue();
		learn(key("acme", 4_999), null);
		assertThat(hotAfter("acme", 10, Duration.ofMillis(700))).isTrue();
		assertThat(hotAfter("acme", 10, Duration.ofSeconds(2))).isFalse();
	}

	@Test
	void markedCounterIsHotUntilTheMarkIsGone() {
		HotMark mark = new HotMark(CounterName.of(counter("acme")), Duration.ofHours(1), "ann", "");
		learn(null, mark);
		assertThat(hotAfter("acme", 10, Duration.ofSeconds(5))).isTrue();
		assertThat(this.hot.top()).containsExactly(new HotCounter(mark.name(), 0, true, mark));
		learn(null, null);
		assertThat(hotAfter("acme", 10, Duration.ofSeconds(2))).isFalse();
		assertThat(this.hot.top()).isEmpty();
	}

	@Test
	@Timeout(60)
	void checkDoesNotWaitWhileTheExchangeReads() throws Exception {
		CountDownLatch reading = new CountDownLatch(1);
		CountDownLatch proceed = new CountDownLatch(1);
		Thread check = Thread.currentThread();
		HotCounters hot = new HotCounters(10_000, 100, () -> 1, () -> {
			if (Thread.currentThread() != check) {
				reading.countDown();
				await(proceed);
			}
			return this.nanos.get();
		});
		CompletableFuture<List<HotKey>> seen = CompletableFuture.supplyAsync(() -> hot.seen(10));
		assertThat(reading.await(30, TimeUnit.SECONDS)).isTrue();
		this.nanos.addAndGet(SECOND_NANOS);
		for (int i = 0; i < 100; i++) {
			hot.count(counter("acme"));
		}
		assertThat(seen).isNotDone();
		proceed.countDown();
		assertThat(seen.get(30, TimeUnit.SECONDS)).isNotNull();
	}

	@Test
	void keyIsNotMadeForACounterThatNobodyAsksAbout() {
		learn(key("acme", 10_000), null);
		Counter other = new Counter(SPEC, new CounterKeys("rl"), "orders", List.of("globex"));
		assertThat(countAndAsk(this.hot, other)).isFalse();
		assertThat(other).extracting("key").isNull();
	}

	/** Its share of the threshold is 1.25 checks in an interval. */
	private HotCounters large() {
		return new HotCounters(10_000, 100, () -> 2_000, this.nanos::get);
	}

	private void passAnInterval(HotCounters counters) {
		this.nanos.addAndGet(Duration.ofMillis(250).toNanos());
		counters.turnIfDue();
	}

	private void learn(HotKey key, HotMark mark) {
		this.hot.learn(new HotStore.View((key != null) ? List.of(key) : List.of(), List.of(),
				(mark != null) ? List.of(mark) : List.of(), Duration.ofSeconds(1)));
	}

	private static HotKey key(String tenant, long perSecond) {
		return new HotKey(CounterName.of(counter(tenant)), perSecond);
	}

	private boolean hotAfter(String tenant, int perSecond, Duration time) {
		long end = this.nanos.get() + time.toNanos();
		boolean isHot = false;
		while (this.nanos.get() < end) {
			this.hot.turnIfDue();
			isHot = countAndAsk(this.hot, counter(tenant));
			this.nanos.addAndGet(1_000_000_000L / perSecond);
		}
		return isHot;
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Counter counter(String tenant) {
		return new Counter(SPEC, tenant);
	}

	private static boolean countAndAsk(HotCounters hot, Counter counter) {
		hot.count(counter);
		return hot.isHot(counter);
	}

}
