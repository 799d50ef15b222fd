package dev.ratelimit.counter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.Settlement;
import dev.ratelimit.algorithm.LiveWindows;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every place that keeps counters has to do with requests that are sent again, in
 * every algorithm.
 */
public abstract class IdempotencyContract {

	/** On the edge of every window used here. */
	private static final long START = Duration.ofDays(20_000).toNanos() / 1_000;

	private static final Duration TTL = Duration.ofSeconds(10);

	private static final int MAX_REPLAYS = 3;

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
	void replayIsAdmittedAndNotCounted(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "1/h");
		assertThat(isReplay(admitted(attempt("a", 1, ann)))).isFalse();
		assertThat(attempt("b", 1, ann).refused()).isTrue();
		assertThat(isReplay(admitted(attempt("a", 1, ann)))).isTrue();
		assertThat(remaining(ann)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void replayCoversAllCountersOfTheRequest(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h", "20/d");
		Counter bob = counter(algorithm, "bob", "5/h");
		attempt("a", 2, ann, bob);
		Grant replay = admitted(attempt("a", 2, ann, bob));
		assertThat(isReplay(replay)).isTrue();
		assertThat(replay.statuses()).extracting((status) -> status.remaining()).containsExactly(8L, 18L, 3L);
	}

	@ParameterizedTest
	@EnumSource
	void afterTheLastReplayTheRequestIsCountedAnew(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		for (int i = 0; i <= MAX_REPLAYS; i++) {
			assertThat(isReplay(attempt("a", 1, ann))).isEqualTo(i > 0);
		}
		assertThat(isReplay(admitted(attempt("a", 1, ann)))).isFalse();
		assertThat(remaining(ann)).isEqualTo(8);
		assertThat(isReplay(attempt("a", 1, ann))).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void refusalIsNotRecorded(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "1/s");
		attempt("a", 1, ann);
		assertThat(attempt("b", 1, ann).refused()).isTrue();
		this.now.addAndGet(2_000_000);
		assertThat(isReplay(admitted(attempt("b", 1, ann)))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void dearerRequestIsDecidedAnew(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		attempt("a", 2, ann);
		assertThat(isReplay(admitted(attempt("a", 3, ann)))).isFalse();
		assertThat(remaining(ann)).isEqualTo(5);
		assertThat(isReplay(attempt("a", 1, ann))).isTrue();
		assertThat(attempt("a", 6, ann).refused()).isTrue();
		assertThat(isReplay(attempt("a", 3, ann))).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void requestIsCountedAnewAfterTheTtl(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		attempt("a", 1, ann);
		this.now.addAndGet(micros(TTL) - 1);
		assertThat(isReplay(attempt("a", 1, ann))).isTrue();
		this.now.addAndGet(1);
		assertThat(isReplay(admitted(attempt("a", 1, ann)))).isFalse();
		assertThat(remaining(ann)).isEqualTo(8);
	}

	@ParameterizedTest
	@EnumSource
	void replayShowsCurrentNumbers(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		attempt("a", 1, ann);
		take(4, ann);
		assertThat(attempt("a", 1, ann).statuses().get(0).remaining()).isEqualTo(5);
	}

	@ParameterizedTest
	@EnumSource
	void replayIsAdmittedByAnExhaustedCounter(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "3/h");
		attempt("a", 3, ann);
		Grant replay = admitted(attempt("a", 3, ann));
		assertThat(replay.statuses()).noneMatch((status) -> status.refuses());
	}

	@ParameterizedTest
	@EnumSource
	void firstAttemptThatIsRefusedElsewhereLeavesThePermitsToTheSecond(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		Grant first = attempt("a", 2, ann);
		Grant second = attempt("a", 2, ann);
		join(this.counters.giveBack(first, first.permits()));
		assertThat(remaining(ann)).isEqualTo(8);
		join(this.counters.giveBack(second, second.permits()));
		assertThat(remaining(ann)).isEqualTo(10);
		assertThat(isReplay(attempt("a", 2, ann))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void replayThatIsRefusedElsewhereReturnsNothingOfTheFirstAttempt(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		Grant first = attempt("a", 2, ann);
		Grant second = attempt("a", 2, ann);
		join(this.counters.giveBack(second, second.permits()));
		assertThat(remaining(ann)).isEqualTo(8);
		join(this.counters.giveBack(first, first.permits()));
		assertThat(remaining(ann)).isEqualTo(10);
	}

	@ParameterizedTest
	@EnumSource
	void lastHolderReturnsPermitsAtTheTimeOfTheGrant(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/s");
		Grant first = attempt("a", 4, ann);
		this.now.addAndGet(5_000_000);
		Grant second = attempt("a", 4, ann);
		take(3, ann);
		join(this.counters.giveBack(first, first.permits()));
		join(this.counters.giveBack(second, second.permits()));
		assertThat(remaining(ann)).isEqualTo(7);
	}

	@ParameterizedTest
	@EnumSource
	void attemptThatIsNoLongerRecordedReturnsNothing(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		Grant first = attempt("a", 1, ann);
		this.now.addAndGet(micros(TTL));
		Grant anew = attempt("a", 1, ann);
		join(this.counters.giveBack(first, first.permits()));
		assertThat(remaining(ann)).isEqualTo(8);
		join(this.counters.giveBack(anew, anew.permits()));
		assertThat(remaining(ann)).isEqualTo(9);
	}

	@ParameterizedTest
	@EnumSource
	void partOfASharedGrantIsNotReturned(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		Grant first = attempt("a", 4, ann);
		Grant second = attempt("a", 4, ann);
		join(this.counters.giveBack(second, 1));
		join(this.counters.giveBack(first, 2));
		assertThat(remaining(ann)).isEqualTo(6);
	}

	@ParameterizedTest
	@EnumSource
	void attemptsNeverReturnMoreThanWasTaken(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		take(4, ann);
		Grant first = attempt("a", 5, ann);
		Grant second = attempt("a", 5, ann);
		join(this.counters.giveBack(first, 2));
		join(this.counters.giveBack(first.afterReturn(2), 3));
		join(this.counters.giveBack(second, 5));
		assertThat(remaining(ann)).isEqualTo(6);
	}

	@ParameterizedTest
	@EnumSource
	void returnedPartIsNotInTheRecord(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		take(4, ann);
		Grant first = attempt("a", 5, ann);
		join(this.counters.giveBack(first, 2));
		assertThat(remaining(ann)).isEqualTo(3);
		Grant second = attempt("a", 3, ann);
		assertThat(isReplay(second)).isTrue();
		join(this.counters.giveBack(first.afterReturn(2), 3));
		join(this.counters.giveBack(second, 3));
		assertThat(remaining(ann)).isEqualTo(6);
		assertThat(isReplay(attempt("a", 3, ann))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void replayThatAloneHoldsAGrantReturnsAPartOfIt(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		Grant first = attempt("a", 4, ann);
		Grant second = attempt("a", 4, ann);
		join(this.counters.giveBack(first, 4));
		join(this.counters.giveBack(second, 1));
		assertThat(remaining(ann)).isEqualTo(7);
		assertThat(isReplay(attempt("a", 4, ann))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void concurrentAttemptsAreCountedOnce(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		List<CompletableFuture<Grant>> attempts = IntStream.rangeClosed(0, MAX_REPLAYS)
			.mapToObj((i) -> this.counters.acquire(List.of(ann), Permits.exactly(2), attempt("a"),
					Counters.DEFAULT_TIMEOUT))
			.toList();
		assertThat(attempts.stream().map(CompletableFuture::join).filter(AttemptReading::isReplay))
			.hasSize(MAX_REPLAYS);
		assertThat(remaining(ann)).isEqualTo(8);
	}

	@ParameterizedTest
	@EnumSource
	void firstSettleOfTwoAttemptsCounts(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		Grant first = attempt("a", 4, ann);
		Grant second = attempt("a", 4, ann);
		assertThat(settle(second, 1)).isEqualTo(Settlement.REFUNDED);
		assertThat(settle(first, 6)).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(ann)).isEqualTo(9);
		assertThat(isReplay(attempt("a", 4, ann))).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void rightEstimateOfOneAttemptIsFinalForTheOther(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		Grant first = attempt("a", 4, ann);
		Grant second = attempt("a", 4, ann);
		assertThat(settle(first, 4)).isEqualTo(Settlement.SETTLED);
		assertThat(settle(second, 1)).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(ann)).isEqualTo(6);
	}

	@ParameterizedTest
	@EnumSource
	void cheaperReplaySettlesAllThatWasTaken(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		attempt("a", 5, ann);
		settle(attempt("a", 3, ann), 2);
		assertThat(remaining(ann)).isEqualTo(8);
	}

	@ParameterizedTest
	@EnumSource
	void requestThatWasCancelledIsCountedAnew(Algorithm algorithm) {
		Counter ann = counter(algorithm, "ann", "10/h");
		assertThat(settle(attempt("a", 4, ann), 0)).isEqualTo(Settlement.REFUNDED);
		assertThat(isReplay(admitted(attempt("a", 4, ann)))).isFalse();
		assertThat(remaining(ann)).isEqualTo(6);
	}

	protected final Settlement settle(Grant grant, long actual) {
		return join(this.counters.settle(new Correction("own" + System.nanoTime(), grant, actual - grant.permits(),
				System.nanoTime(), AttemptReading.settledUntil(grant))));
	}

	protected static boolean isReplay(Grant grant) {
		return AttemptReading.isReplay(grant);
	}

	protected static Grant admitted(Grant grant) {
		assertThat(grant.refused()).isFalse();
		assertThat(grant.complete()).isTrue();
		return grant;
	}

	protected final Grant attempt(String id, long cost, Counter... counters) {
		return join(
				this.counters.acquire(List.of(counters), Permits.exactly(cost), attempt(id), Counters.DEFAULT_TIMEOUT));
	}

	protected static Attempt attempt(String id) {
		return new Attempt(id, micros(TTL), MAX_REPLAYS);
	}

	private Grant take(long cost, Counter... counters) {
		return join(this.counters.acquire(List.of(counters), Permits.exactly(cost)));
	}

	protected final long remaining(Counter counter) {
		return join(this.counters.acquire(List.of(counter), Permits.NONE)).statuses().get(0).remaining();
	}

	private static long micros(Duration duration) {
		return duration.toNanos() / 1_000;
	}

	protected static Counter counter(Algorithm algorithm, String user, String... quotas) {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), quotas);
		CounterSpec spec = new CounterSpec(algorithm, limit, Enforcement.STRICT, new LiveWindows(), true);
		return new Counter(spec, new CounterKeys("rl"), "idempotent", List.of(user));
	}

}
