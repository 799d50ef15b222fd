package dev.ratelimit.counter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Settlement;
import dev.ratelimit.algorithm.LiveWindows;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every place that keeps counters has to do when a cost is settled, in every
 * algorithm.
 */
public abstract class SettleContract {

	/** On the edge of every window used here. */
	private static final long START = Duration.ofDays(20_000).toNanos() / 1_000;

	private final AtomicLong now = new AtomicLong();

	private int settles;

	private Counters counters;

	/**
	 * Empty counters on a clock of the test's own.
	 */
	protected abstract Counters counters(LongSupplier micros);

	@BeforeEach
	void start() {
		this.now.set(START);
		this.counters = counters(this.now::get);
	}

	@ParameterizedTest
	@EnumSource
	void refundComesBackAtOnce(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "1000/m");
		Grant grant = take(400, counter);
		assertThat(settle(grant, 100)).isEqualTo(Settlement.REFUNDED);
		assertThat(remaining(counter)).isEqualTo(900);
	}

	@ParameterizedTest
	@EnumSource
	void surplusIsChargedAtOnce(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "1000/m");
		Grant grant = take(400, counter);
		assertThat(settle(grant, 600)).isEqualTo(Settlement.SETTLED);
		assertThat(remaining(counter)).isEqualTo(400);
	}

	@ParameterizedTest
	@EnumSource
	void everyCounterOfTheRequestIsSettled(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "1000/m");
		Counter bob = counter(algorithm, "bob", "500/m", "2000/h");
		Grant grant = take(400, ann, bob);
		assertThat(settle(grant, 100)).isEqualTo(Settlement.REFUNDED);
		assertThat(statuses(ann, bob)).extracting(LimitStatus::remaining).containsExactly(900L, 400L, 1900L);
		Grant again = take(100, ann, bob);
		assertThat(settle(again, 300)).isEqualTo(Settlement.SETTLED);
		assertThat(statuses(ann, bob)).extracting(LimitStatus::remaining).containsExactly(600L, 100L, 1600L);
	}

	@ParameterizedTest
	@EnumSource
	void surplusMayLeaveADebtThatLaterRequestsPay(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "100/m");
		Grant grant = take(50, counter);
		assertThat(settle(grant, 150)).isEqualTo(Settlement.SETTLED);
		Grant refused = take(1, counter);
		assertThat(refused.refused()).isTrue();
		long wait = refused.statuses().get(0).retryAfterMicros();
		assertThat(wait).isPositive();
		this.now.addAndGet(wait - 1);
		assertThat(take(1, counter).refused()).isTrue();
		this.now.addAndGet(1);
		assertThat(take(1, counter).refused()).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void debtIsAtMostOneBurst(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "100/m");
		Counter owing = counter(algorithm, "bob", "100/m");
		Grant grant = take(100, counter);
		Grant other = take(100, owing);
		assertThat(settle(grant, 100_000)).isEqualTo(Settlement.CAPPED);
		assertThat(settle(other, 200)).isEqualTo(Settlement.SETTLED);
		assertThat(statuses(counter).get(0)).isEqualTo(sameQuota(statuses(owing).get(0), counter));
		assertThat(settle(take(0, counter), grant, 101)).isEqualTo(Settlement.CAPPED);
	}

	@ParameterizedTest
	@EnumSource
	void everyQuotaHasItsOwnCap(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "10/s", "1000/h");
		Grant grant = take(10, counter);
		Settlement outcome = settle(grant, 500);
		if (algorithm == Algorithm.SLIDING_WINDOW_LOG) {
			// Quotas of a log share its entries.
			assertThat(outcome).isEqualTo(Settlement.SETTLED);
			assertThat(statuses(counter)).extracting(LimitStatus::remaining).containsExactly(0L, 500L);
			return;
		}
		assertThat(outcome).isEqualTo(Settlement.SETTLED);
		assertThat(statuses(counter)).extracting(LimitStatus::remaining).containsExactly(0L, 500L);
		this.now.addAndGet(3_000_000);
		assertThat(statuses(counter).get(0).remaining()).isPositive();
	}

	@ParameterizedTest
	@EnumSource
	void afterTheWindowNothingComesBack(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "1000/m");
		Grant grant = take(400, counter);
		this.now.addAndGet(Duration.ofMinutes(2).toNanos() / 1_000);
		take(500, counter);
		long before = remaining(counter);
		assertThat(settle(grant, 0)).isEqualTo(Settlement.EXPIRED);
		assertThat(remaining(counter)).isEqualTo(before);
	}

	@ParameterizedTest
	@EnumSource
	void quotaWhoseWindowIsOverDoesNotKeepTheOtherFromARefund(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "500/s", "1000/h");
		Grant grant = take(400, counter);
		this.now.addAndGet(5_000_000);
		assertThat(settle(grant, 100)).isEqualTo(Settlement.REFUNDED);
		assertThat(statuses(counter).get(0).remaining()).isEqualTo(500);
		assertThat(statuses(counter).get(1).remaining()).isBetween(900L, 903L);
	}

	@ParameterizedTest
	@EnumSource
	void refundNeverMakesACounterMoreThanFull(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "100/m");
		Grant grant = take(100, counter);
		this.now.addAndGet(30_000_000);
		settle(grant, 0);
		assertThat(remaining(counter)).isEqualTo(100);
		assertThat(take(100, counter).refused()).isFalse();
		assertThat(take(1, counter).refused()).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void refundOfPermitsThatWereTakenAtDifferentTimesUsesEachTime(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "10/m");
		Grant first = take(3, counter);
		this.now.addAndGet(Duration.ofMinutes(2).toNanos() / 1_000);
		take(2, counter);
		Grant second = take(4, counter);
		Reading newest = second.readings().get(0);
		Grant both = new Grant(Permits.exactly(7), 7,
				List.of(newest.with(List.of(new Reading.Taken(first.readings().get(0).time(), 3)))), second.source());
		assertThat(settle(both, 0)).isEqualTo(Settlement.EXPIRED);
		// The window of the first three is over, so only the other four come back.
		assertThat(remaining(counter)).isEqualTo(8);
	}

	protected final Settlement settle(Grant grant, long actual) {
		return settle(grant, grant, actual);
	}

	/** Settles a grant that has the permits of one and the readings of another. */
	private Settlement settle(Grant readings, Grant grant, long actual) {
		Grant settled = grant.with(readings.readings());
		return join(this.counters
			.settle(new Correction("id" + this.settles++, settled, actual - grant.permits(), System.nanoTime(), 0)));
	}

	private static LimitStatus sameQuota(LimitStatus status, Counter counter) {
		return new LimitStatus(counter.spec().limit(), status.quota(), status.remaining(), status.resetAfterMicros(),
				status.retryAfterMicros(), status.nextAfterMicros());
	}

	private Grant take(long cost, Counter... counters) {
		return join(this.counters.acquire(List.of(counters), Permits.exactly(cost)));
	}

	private List<LimitStatus> statuses(Counter... counters) {
		return join(this.counters.acquire(List.of(counters), Permits.NONE)).statuses();
	}

	private long remaining(Counter counter) {
		return statuses(counter).get(0).remaining();
	}

	protected static Counter counter(Algorithm algorithm, String user, String... quotas) {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), quotas);
		CounterSpec spec = new CounterSpec(algorithm, limit, Enforcement.STRICT, new LiveWindows(), true);
		return new Counter(spec, new CounterKeys("rl"), "settle", List.of(user));
	}

}
