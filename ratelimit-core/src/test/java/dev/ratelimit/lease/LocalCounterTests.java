package dev.ratelimit.lease;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/** How large leases are and how often they are fetched. */
class LocalCounterTests {

	private static final Duration MILLISECOND = Duration.ofMillis(1);

	/** What a caller that comes each millisecond spends in a refresh interval. */
	private static final long SPENT = 100;

	private static final int LARGE_FLEET = 2_000;

	private long now = 1_000_000_000_000L;

	private final LocalCounter local = new LocalCounter(LeaseOptions.DEFAULTS, this.now);

	private final MemoryCounters redis = new MemoryCounters(10, () -> this.now / 1_000, () -> this.now);

	@Test
	void leaseIsWhatIsSpentInARefreshInterval() {
		LeasedSpec spec = told("100000/s");
		long size = 0;
		for (int leases = 0; leases < 20;) {
			long wanted = request(spec, MILLISECOND);
			if (wanted > 0) {
				size = wanted;
				leases++;
				fetch(spec, wanted);
			}
		}
		// One more for each lease that was spent.
		assertThat(size).isBetween(SPENT - 5, SPENT + 20 + 5);
	}

	@Test
	void leasesThatCannotBeHadDoNotMakeTheNextOneLarger() {
		LeasedSpec spec = told("100000/s");
		long size = 0;
		for (int i = 0; i < 1_000; i++) {
			long wanted = request(spec, MILLISECOND);
			if (wanted > 0) {
				if (i < 500) {
					fetch(spec, wanted);
				}
				else {
					size = Math.max(size, wanted);
					spec.end(this.now);
				}
			}
		}
		assertThat(size).isBetween(SPENT - 5, SPENT + 5 + 5);
	}

	@Test
	void leaseThatIsNotAnsweredIsAskedForAgainAfterARefreshInterval() {
		LeasedSpec spec = told("100000/s");
		long wanted = 0;
		while (wanted == 0) {
			wanted = request(spec, MILLISECOND);
		}
		for (int i = 1; i < 100; i++) {
			assertThat(request(spec, MILLISECOND)).isZero();
		}
		assertThat(request(spec, MILLISECOND)).isPositive();
	}

	@Test
	void leaseLeavesTheLargestCostOfTheLastMinute() {
		LeasedSpec spec = told("1000/s burst 500");
		assertThat(wantedAfter(Duration.ofSeconds(2), spec, 1)).isGreaterThan(50);
		spec.spend(450, this.now);
		assertThat(wantedAfter(Duration.ofSeconds(2), spec, 1)).isBetween(1L, 50L);
		assertThat(wantedAfter(Duration.ofSeconds(57), spec, 1)).isBetween(1L, 50L);
		assertThat(wantedAfter(Duration.ofSeconds(12), spec, 1)).isGreaterThan(50);
	}

	/** A permit of the small tier takes as long to come back as ten of the large one. */
	@Test
	void leaseLeavesWhatCallersOfOtherSpecsNeed() {
		LeasedSpec large = told("1000/s");
		LeasedSpec small = told("100/s");
		assertThat(wantedAfter(Duration.ofSeconds(2), large, 1)).isGreaterThan(50);
		small.spend(95, this.now);
		assertThat(wantedAfter(Duration.ofSeconds(2), large, 1)).isBetween(1L, 50L);
		assertThat(wantedAfter(Duration.ofSeconds(70), large, 1)).isGreaterThan(50);
	}

	@Test
	void whatCallersOfOtherSpecsTookIsNotLeasedAgain() {
		LeasedSpec one = told("100/d");
		LeasedSpec other = told("100/d");
		take(other, Permits.exactly(98));
		for (int i = 0; i < 100; i++) {
			assertThat(request(one, MILLISECOND)).isZero();
		}
	}

	@Test
	void callsForLeasesAreBoundedForAllSpecsTogether() {
		List<LeasedSpec> specs = List.of(told("1000000/s"), told("2000000/s"), told("3000000/s"));
		int calls = 0;
		for (int millis = 0; millis < 10_000; millis++) {
			this.now += MILLISECOND.toNanos();
			for (LeasedSpec spec : specs) {
				spec.spend(1, this.now);
				long wanted = spec.wants(this.now) ? this.local.fetch(spec, LARGE_FLEET, this.now) : 0;
				if (wanted > 0) {
					calls++;
					fetch(spec, wanted);
				}
			}
		}
		assertThat(calls * LARGE_FLEET).isLessThanOrEqualTo(10 * 3_000).isGreaterThan(10 * 2_000);
	}

	@Test
	void leasesLastLongerWhereSpecsShareTheCallsAndOnlyWhileTheyDo() {
		int fleet = 1_200;
		LeasedSpec one = told("10000000/s");
		LeasedSpec edited = told("20000000/s");
		long alone = wantedAfter(Duration.ofSeconds(5), one, fleet);
		fetch(edited, 1);
		long shared = wantedAfter(Duration.ofMillis(900), one, fleet);
		assertThat((double) shared / alone).isBetween(1.9, 2.1);
		assertThat((double) wantedAfter(Duration.ofMillis(200), one, fleet) / alone).isBetween(0.9, 1.1);
	}

	@Test
	void specsThatLeaseAtTheSameTimeAreBounded() {
		for (int i = 1; i <= 16; i++) {
			fetch(told(i + "00000/s"), 10);
		}
		assertThat(this.local.hasRoom(this.now)).isFalse();
		this.local.add(counter("1/s"), this.now);
		assertThat(this.local.size()).isEqualTo(16);
		pass(Duration.ofSeconds(2));
		assertThat(this.local.hasRoom(this.now)).isTrue();
		told("1/s");
		assertThat(this.local.size()).isEqualTo(1);
	}

	/**
	 * How large a lease is wanted in the end by a caller that came each millisecond and
	 * got none.
	 */
	private long wantedAfter(Duration time, LeasedSpec spec, int instances) {
		long wanted = 0;
		for (long end = this.now + time.toNanos(); this.now < end;) {
			pass(MILLISECOND);
			spec.spend(1, this.now);
			if (spec.wants(this.now)) {
				wanted = this.local.fetchAlong(spec, 1, instances, this.now);
				spec.end(this.now);
			}
		}
		return wanted;
	}

	private LeasedSpec told(String quota) {
		Counter counter = counter(quota);
		this.local.add(counter, this.now);
		LeasedSpec spec = this.local.under(counter.spec());
		assertThat(spec).isNotNull();
		take(spec, Permits.exactly(1));
		return spec;
	}

	/** How large a lease is wanted after one more request, 0 if none is. */
	private long request(LeasedSpec spec, Duration after) {
		pass(after);
		spec.spend(1, this.now);
		return spec.wants(this.now) ? this.local.fetch(spec, 1, this.now) : 0;
	}

	private void fetch(LeasedSpec spec, long wanted) {
		spec.fetched(take(spec, Permits.between(1, wanted)), wanted, this.now, this.now);
	}

	private Grant take(LeasedSpec spec, Permits permits) {
		Grant grant = this.redis.acquire(List.of(spec.counter()), permits).toCompletableFuture().join();
		spec.learn(grant.readings().get(0), this.now, this.now);
		return new Grant(permits, grant.permits(), grant.readings(), Decision.Source.REDIS);
	}

	private void pass(Duration time) {
		this.now += time.toNanos();
	}

	private static Counter counter(String quota) {
		return new Counter(new CounterSpec(Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), quota),
				Enforcement.LEASED, new LiveWindows()), "ann");
	}

}
