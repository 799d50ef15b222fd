package dev.ratelimit.lease;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/** How large leases are, for a caller who comes each millisecond. */
class LocalCounterTests {

	private static final long EACH = Duration.ofMillis(1).toNanos();

	/** What a caller with 1,000 requests a second spends in a refresh interval. */
	private static final long SPENT = 100;

	private final Counter counter = new Counter(new CounterSpec(Algorithm.GCRA,
			Limit.of("per-user", List.of(Dimension.USER), "100000/s"), Enforcement.LEASED), "ann");

	private final LocalCounter local = new LocalCounter(this.counter, LeaseOptions.DEFAULTS);

	private long now = 1_000_000_000_000L;

	private final MemoryCounters redis = new MemoryCounters(10, () -> this.now / 1_000, () -> this.now);

	@Test
	void leaseIsWhatIsSpentInARefreshInterval() {
		this.local.told(take(Permits.exactly(1)).readings().get(0), this.now);
		long size = 0;
		for (int leases = 0; leases < 20;) {
			long wanted = request();
			if (wanted > 0) {
				size = wanted;
				leases++;
				fetch(wanted);
			}
		}
		// One more for each lease that was spent.
		assertThat(size).isBetween(SPENT - 5, SPENT + 20 + 5);
	}

	@Test
	void leasesThatCannotBeHadDoNotMakeTheNextOneLarger() {
		this.local.told(take(Permits.exactly(1)).readings().get(0), this.now);
		long size = 0;
		for (int i = 0; i < 1_000; i++) {
			long wanted = request();
			if (wanted > 0) {
				if (i < 500) {
					fetch(wanted);
				}
				else {
					size = Math.max(size, wanted);
					this.local.notFetched();
				}
			}
		}
		assertThat(size).isBetween(SPENT - 5, SPENT + 5 + 5);
	}

	/** How large a lease is wanted after one more request, 0 if none is. */
	private long request() {
		this.now += EACH;
		this.local.spend(1, this.now);
		return this.local.wants(this.now) ? this.local.size(1, this.now) : 0;
	}

	private void fetch(long wanted) {
		this.local.fetched(take(Permits.between(1, wanted)), wanted, this.now);
	}

	private Grant take(Permits permits) {
		Grant grant = this.redis.acquire(List.of(this.counter), permits).toCompletableFuture().join();
		return new Grant(permits, grant.permits(), grant.readings(), Decision.Source.REDIS);
	}

}
