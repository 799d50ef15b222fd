package dev.ratelimit.counter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What every place that keeps counters has to do, in every algorithm. Counters of
 * different users fall under different hash tags, so that in a cluster most of these
 * facts cross slots.
 */
public abstract class CountersContract {

	/** On the edge of every window used here. */
	private static final long START = Duration.ofDays(20_000).toNanos() / 1_000;

	private final AtomicLong now = new AtomicLong();

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
	void admitsThePermitsAndRefusesTheNext(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "5/m");
		for (int i = 4; i >= 0; i--) {
			Grant grant = take(1, counter);
			assertThat(grant.permits()).isOne();
			assertThat(grant.statuses()).singleElement().extracting(LimitStatus::remaining).isEqualTo((long) i);
		}
		Grant refused = take(1, counter);
		assertThat(refused.refused()).isTrue();
		assertThat(refused.permits()).isZero();
		assertThat(only(refused).remaining()).isZero();
		assertThat(only(refused).retryAfter()).isPositive();
	}

	@ParameterizedTest
	@EnumSource
	void refusalByTheSecondCounterTakesNothingFromTheFirst(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "5/m");
		Counter bob = counter(algorithm, "bob", "1/m");
		assertThat(take(1, ann, bob).permits()).isOne();
		Grant refused = take(1, ann, bob);
		assertThat(refused.refused()).isTrue();
		assertThat(refused.statuses()).extracting(LimitStatus::remaining).containsExactly(4L, 0L);
		assertThat(refused.statuses()).extracting(LimitStatus::refuses).containsExactly(false, true);
		assertThat(remaining(ann)).isEqualTo(4);
	}

	@ParameterizedTest
	@EnumSource
	void refusalByOneQuotaTakesNothingFromTheOther(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "2/s", "10/m");
		take(2, counter);
		assertThat(take(1, counter).refused()).isTrue();
		this.now.addAndGet(2_000_000);
		assertThat(take(2, counter).permits()).isEqualTo(2);
		assertThat(peek(counter).statuses()).extracting(LimitStatus::remaining).element(1).isEqualTo(6L);
	}

	@ParameterizedTest
	@EnumSource
	void costZeroTakesNothing(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "3/m");
		take(3, counter);
		Grant peek = peek(counter);
		assertThat(peek.refused()).isFalse();
		assertThat(only(peek).remaining()).isZero();
		assertThat(only(peek).retryAfterMicros()).isZero();
		this.now.addAndGet(3 * 60_000_000L);
		assertThat(remaining(counter)).isEqualTo(3);
		assertThat(take(3, counter).permits()).isEqualTo(3);
	}

	@ParameterizedTest
	@EnumSource
	void grantsWhatThereIsWhenAPartIsWelcome(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "10/m");
		assertThat(acquire(Permits.between(2, 7), counter).permits()).isEqualTo(7);
		assertThat(acquire(Permits.between(2, 7), counter).permits()).isEqualTo(3);
		assertThat(acquire(Permits.between(1, 7), counter).refused()).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void partialGrantBurnsNothingThatItDoesNotGrant(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/m");
		Counter bob = counter(algorithm, "bob", "4/m");
		assertThat(acquire(Permits.between(1, 8), ann, bob).permits()).isEqualTo(4);
		assertThat(remaining(ann)).isEqualTo(6);
		assertThat(remaining(bob)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void permitsThatWereTakenAtDifferentTimesAreGivenBackEachAtItsOwn(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "10/m");
		Grant first = take(3, counter);
		this.now.addAndGet(Duration.ofMinutes(2).toNanos() / 1_000);
		take(2, counter);
		Grant second = take(4, counter);
		Reading newest = second.readings().get(0);
		Grant both = new Grant(Permits.exactly(7), 7,
				List.of(newest.with(List.of(new Reading.Taken(first.readings().get(0).time(), 3)))), second.source());
		giveBack(both, 5);
		giveBack(both.afterReturn(5), 2);
		// The window of the first three is over, so only the other four come back.
		await().untilAsserted(() -> assertThat(remaining(counter)).isEqualTo(8));
	}

	@ParameterizedTest
	@EnumSource
	void lessThanTheLeastIsRefusedAndTakesNothing(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "10/m");
		take(8, counter);
		assertThat(acquire(Permits.between(3, 5), counter).refused()).isTrue();
		assertThat(remaining(counter)).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource
	void grantsWholeMultiplesOfTheUnit(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "10/m");
		assertThat(acquire(new Permits(3, 3, 30), counter).permits()).isEqualTo(9);
		assertThat(remaining(counter)).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void costAboveTheBurstNeverFits(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "10/m");
		Grant grant = take(11, counter);
		assertThat(grant.refused()).isTrue();
		assertThat(only(grant).neverFits()).isTrue();
		assertThat(remaining(counter)).isEqualTo(10);
	}

	@ParameterizedTest
	@EnumSource
	void waitingTheRetryAfterIsEnoughAndAMicrosecondLessIsNot(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "7/s");
		take(5, counter);
		this.now.addAndGet(100_003);
		take(2, counter);
		long wait = only(take(3, counter)).retryAfterMicros();
		this.now.addAndGet(wait - 1);
		assertThat(take(3, counter).refused()).isTrue();
		this.now.addAndGet(1);
		assertThat(take(3, counter).permits()).isEqualTo(3);
	}

	@ParameterizedTest
	@EnumSource
	void isFullAgainAfterTheReset(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "7/s", "100/m");
		take(5, counter);
		Grant grant = take(1, counter);
		long reset = grant.statuses().stream().mapToLong(LimitStatus::resetAfterMicros).max().orElseThrow();
		this.now.addAndGet(reset);
		assertThat(peek(counter).statuses()).extracting(LimitStatus::remaining).containsExactly(7L, 100L);
	}

	@ParameterizedTest
	@EnumSource
	void givenBackPermitsCanBeTakenAgain(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "5/m");
		Counter bob = counter(algorithm, "bob", "7/m", "100/h");
		Grant grant = take(5, ann, bob);
		this.now.addAndGet(1_000);
		giveBack(grant, 3);
		assertThat(peek(ann, bob).statuses()).extracting(LimitStatus::remaining).containsExactly(3L, 5L, 98L);
	}

	@ParameterizedTest
	@EnumSource
	void givingBackNeverFillsBeyondFull(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "5/m");
		Grant grant = take(3, counter);
		giveBack(grant, 3);
		giveBack(grant, 3);
		assertThat(remaining(counter)).isEqualTo(5);
	}

	@ParameterizedTest
	@EnumSource
	void givingBackAfterTheWindowChangesNothing(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "5/m");
		Grant grant = take(3, counter);
		this.now.addAndGet(180_000_000);
		take(4, counter);
		giveBack(grant, 3);
		assertThat(remaining(counter)).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void resetForgetsTheCounterAndNoOther(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "5/m");
		Counter bob = counter(algorithm, "bob", "5/m");
		take(5, ann, bob);
		join(this.counters.reset(List.of(ann)));
		assertThat(remaining(ann)).isEqualTo(5);
		assertThat(remaining(bob)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void raisedLimitKeepsWhatWasUsed(Algorithm algorithm) {
		take(50, counter(algorithm, "ann", "100/m"));
		long left = remaining(counter(algorithm, "ann", "1000/m"));
		assertThat(left).isEqualTo(keepsShare(algorithm) ? 500 : 950);
	}

	@ParameterizedTest
	@EnumSource
	void loweredLimitKeepsWhatWasUsedAndLocksNobodyOut(Algorithm algorithm) {
		take(500, counter(algorithm, "ann", "1000/m"));
		Counter lowered = counter(algorithm, "ann", "100/m");
		assertThat(remaining(lowered)).isEqualTo(keepsShare(algorithm) ? 50 : 0);
		this.now.addAndGet(2 * 60_000_000);
		assertThat(remaining(lowered)).isEqualTo(100);
	}

	@ParameterizedTest
	@EnumSource
	void quotasFindTheirStateByWindowAfterAChange(Algorithm algorithm) {
		take(5, counter(algorithm, "ann", "10/m"));
		Counter changed = counter(algorithm, "ann", "100/h", "10/m");
		assertThat(peek(changed).statuses()).extracting(LimitStatus::remaining).element(1).isEqualTo(5L);
	}

	@ParameterizedTest
	@EnumSource
	void clockSetBackHandsOutNothingAndRefusesForAWindowAtMost(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "100/s");
		take(100, counter);
		this.now.addAndGet(-Duration.ofHours(1).toNanos() / 1_000);
		assertThat(take(1, counter).refused()).isTrue();
		// 1 % more for the sliding-window counter, whose previous window still weighs in.
		this.now.addAndGet(1_010_000);
		assertThat(take(1, counter).permits()).isOne();
	}

	@ParameterizedTest
	@EnumSource
	void clockSetForwardHandsOutOneBurst(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "100/s");
		take(100, counter);
		this.now.addAndGet(Duration.ofHours(1).toNanos() / 1_000);
		assertThat(acquire(Permits.between(1, 1_000), counter).permits()).isEqualTo(100);
	}

	@ParameterizedTest
	@EnumSource
	void concurrentRequestsAreAdmittedExactlyAsOftenAsThereArePermits(Algorithm algorithm) {
		Counter counter = counter(algorithm, "ann", "100/d");
		List<CompletableFuture<Grant>> grants = IntStream.range(0, 300)
			.parallel()
			.mapToObj((i) -> this.counters.acquire(List.of(counter), Permits.exactly(1)).toCompletableFuture())
			.toList();
		assertThat(grants.stream().mapToLong((grant) -> join(grant).permits()).sum()).isEqualTo(100);
	}

	@ParameterizedTest
	@EnumSource
	void requestsRefusedConcurrentlyLeaveNothingBehind(Algorithm algorithm) {
		Counter shared = counter(algorithm, "shared", "40/d");
		List<Counter> users = IntStream.range(0, 20)
			.mapToObj((i) -> counter(algorithm, "user-" + i, (i % 2 == 0) ? "1000/d" : "1/d"))
			.toList();
		List<CompletableFuture<Grant>> grants = IntStream.range(0, 400)
			.parallel()
			.mapToObj((i) -> this.counters
				.acquire(List.of(users.get(i % 20), shared), Permits.exactly(1), Duration.ofSeconds(10))
				.toCompletableFuture())
			.toList();
		long[] admitted = new long[20];
		for (int i = 0; i < grants.size(); i++) {
			admitted[i % 20] += Grants.answered(grants.get(i)).permits();
		}
		// What was taken on one node only may still be on its way back.
		await().until(() -> 40 - remaining(shared) == LongStream.of(admitted).sum());
		for (int i = 0; i < 20; i++) {
			int user = i;
			await().until(() -> ((user % 2 == 0) ? 1_000 : 1) - remaining(users.get(user)) == admitted[user]);
		}
	}

	protected static boolean keepsShare(Algorithm algorithm) {
		return algorithm == Algorithm.GCRA || algorithm == Algorithm.TOKEN_BUCKET;
	}

	protected static Counter counter(Algorithm algorithm, String user, String... quotas) {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), quotas);
		String key = new CounterKeys("rl").key("test", algorithm, limit, List.of(user));
		return new Counter(new CounterSpec(algorithm, limit), key);
	}

	private Grant take(long cost, Counter... counters) {
		return acquire(Permits.exactly(cost), counters);
	}

	private Grant peek(Counter... counters) {
		return acquire(Permits.NONE, counters);
	}

	private Grant acquire(Permits permits, Counter... counters) {
		return Grants.answered(this.counters.acquire(new ArrayList<>(List.of(counters)), permits));
	}

	private void giveBack(Grant grant, long permits) {
		join(this.counters.giveBack(grant, permits));
	}

	private long remaining(Counter counter) {
		return only(peek(counter)).remaining();
	}

	private static LimitStatus only(Grant grant) {
		assertThat(grant.statuses()).hasSize(1);
		return grant.statuses().get(0);
	}

}
