package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Permits;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A failover to a node whose clock is an hour off, as its counters see it: they were
 * written by one clock and are read by another.
 */
class ClockJumpIntegrationTests {

	private static final long SECOND = 1_000_000;

	private static final long HOUR = Duration.ofHours(1).toSeconds() * SECOND;

	private static final long WINDOW = 60 * SECOND;

	private static final int PERMITS = 30;

	private static final long PERMIT = WINDOW / PERMITS;

	private final AtomicLong micros = new AtomicLong(Duration.ofDays(20_000).toSeconds() * SECOND + WINDOW / 3);

	private RedisCounters counters;

	@BeforeEach
	void start() {
		this.counters = Connections.standalone().at(this.micros::get);
	}

	@ParameterizedTest
	@EnumSource
	void setBackHandsOutNothing(Algorithm algorithm) {
		Counter counter = counter(algorithm);
		assertThat(taken(counter)).isEqualTo(PERMITS);
		this.micros.addAndGet(-HOUR);
		assertThat(taken(counter)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void setBackRefusesNobodyForLongerThanAWindowAndAPermit(Algorithm algorithm) {
		Counter counter = counter(algorithm);
		assertThat(taken(counter)).isEqualTo(PERMITS);
		this.micros.addAndGet(-HOUR);
		long start = this.micros.get();
		// Refused attempts on the way must not begin the wait anew.
		while (taken(counter) == 0) {
			this.micros.addAndGet(SECOND);
		}
		assertThat(this.micros.get() - start).isLessThanOrEqualTo(longestWait(algorithm));
	}

	@ParameterizedTest
	@EnumSource
	void setForwardHandsOutOneBurstAtMost(Algorithm algorithm) {
		Counter counter = counter(algorithm);
		assertThat(taken(counter)).isEqualTo(PERMITS);
		this.micros.addAndGet(HOUR);
		assertThat(taken(counter)).isEqualTo(PERMITS);
		assertThat(taken(counter)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void setForwardRefusesNobody(Algorithm algorithm) {
		Counter counter = counter(algorithm);
		assertThat(take(counter, PERMITS / 2)).isEqualTo(PERMITS / 2);
		this.micros.addAndGet(HOUR);
		assertThat(take(counter, PERMITS / 2)).isEqualTo(PERMITS / 2);
	}

	/** For one permit; docs/algorithms.md has the general case. */
	private static long longestWait(Algorithm algorithm) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> PERMIT;
			case SLIDING_WINDOW_LOG, FIXED_WINDOW -> WINDOW;
			case SLIDING_WINDOW_COUNTER -> WINDOW + PERMIT;
		};
	}

	private long taken(Counter counter) {
		return take(counter, 1, PERMITS + 1);
	}

	private long take(Counter counter, long permits) {
		return take(counter, permits, permits);
	}

	private long take(Counter counter, long least, long most) {
		return this.counters.acquire(List.of(counter), Permits.between(least, most), Duration.ofSeconds(5))
			.toCompletableFuture()
			.join()
			.permits();
	}

	private static Counter counter(Algorithm algorithm) {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), PERMITS + "/m");
		return new Counter(new CounterSpec(algorithm, limit),
				new CounterKeys("rl").key("orders", algorithm, limit, List.of("ann")));
	}

}
