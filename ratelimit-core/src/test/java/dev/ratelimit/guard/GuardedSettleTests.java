package dev.ratelimit.guard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Corrected;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.UnansweredException;

import static dev.ratelimit.guard.HandDrivenNodes.counter;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class GuardedSettleTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private static final long TIME = 1_700_000_000_000_000L;

	private static final Counter TENANT = counter("a/1/tenant");

	private static final Counter IP = counter("b/2/ip");

	private final HandDrivenNodes nodes = new HandDrivenNodes();

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final GuardedCounters counters = new GuardedCounters(this.nodes,
			new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of()), this.deadlines,
			Duration.ZERO);

	@AfterEach
	void close() {
		this.deadlines.close();
	}

	@Test
	void eachHashTagHasOneCallAndTheWorstOutcomeCounts() throws Exception {
		CompletableFuture<Settlement> outcome = settle(-3, TENANT, IP);
		next().answer().complete(new Corrected(Settlement.EXPIRED, TIME));
		assertThat(outcome).isNotDone();
		next().answer().complete(new Corrected(Settlement.REFUNDED, TIME));
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.EXPIRED);
	}

	@Test
	void attemptThatFailsIsRepeatedWithTheSameIdAndTheSameLastTime() throws Exception {
		CompletableFuture<Settlement> outcome = settle(-3, TENANT);
		HandDrivenNodes.CorrectionAttempt first = next();
		first.answer().completeExceptionally(new UnansweredException(Decision.Reason.RESHARDING, "moving"));
		HandDrivenNodes.CorrectionAttempt second = next();
		assertThat(second.last()).isEqualTo(first.last()).isBetween(TIME + 29_000_000L, TIME + 31_000_000L);
		assertThat(second.correction().marker()).isEqualTo(first.correction().marker());
		second.answer().complete(new Corrected(Settlement.REFUNDED, TIME));
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.REFUNDED);
	}

	@Test
	void attemptThatIsNotAnsweredIsRepeated() throws Exception {
		CompletableFuture<Settlement> outcome = settle(3, TENANT);
		next();
		next().answer().complete(new Corrected(Settlement.CAPPED, TIME));
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.CAPPED);
	}

	@Test
	void markerOfAnAttemptWhoseAnswerWasLostMeansThatItActed() throws Exception {
		CompletableFuture<Settlement> outcome = settle(3, TENANT);
		next().answer().completeExceptionally(new UnansweredException(Decision.Reason.UNAVAILABLE, "cut"));
		next().answer().complete(new Corrected(Settlement.NOTHING, TIME));
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.SETTLED);
	}

	@Test
	void markerOfAnotherInstanceMeansThatNothingIsToBeDone() throws Exception {
		CompletableFuture<Settlement> outcome = settle(3, TENANT);
		next().answer().complete(new Corrected(Settlement.NOTHING, TIME));
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.NOTHING);
	}

	@Test
	void clockOfTheNodeIsLearnedWhileNoAttemptCanHaveActed() throws Exception {
		CompletableFuture<Settlement> outcome = settle(3, TENANT);
		long later = TIME + Duration.ofMinutes(5).toNanos() / 1_000;
		next().answer().complete(new Corrected(null, later));
		HandDrivenNodes.CorrectionAttempt second = next();
		assertThat(second.last()).isBetween(later + 1, later + 30_000_000L);
		second.answer().complete(new Corrected(Settlement.SETTLED, later));
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.SETTLED);
	}

	@Test
	void attemptThatIsTooLateAfterAnUnansweredOneIsLost() throws Exception {
		CompletableFuture<Settlement> outcome = settle(3, TENANT);
		next().answer().completeExceptionally(new UnansweredException(Decision.Reason.TIMEOUT, "paused"));
		next().answer().complete(new Corrected(null, TIME + 60_000_000L));
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.LOST);
	}

	@Test
	void foreignValueIsNotTriedAgain() throws Exception {
		CompletableFuture<Settlement> outcome = settle(3, TENANT);
		next().answer().completeExceptionally(UnansweredException.corrupt(TENANT.spec()));
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.LOST);
	}

	@Test
	void moreThan10000WaitingSettlesAreLost() throws Exception {
		List<CompletableFuture<Settlement>> waiting = new ArrayList<>();
		for (int i = 0; i < GuardedSettle.MOST_WAITING; i++) {
			waiting.add(settle(-1, TENANT));
		}
		assertThat(waiting).noneMatch(CompletableFuture::isDone);
		assertThat(settle(-1, TENANT)).isCompletedWithValue(Settlement.LOST);
		next().answer().complete(new Corrected(Settlement.REFUNDED, TIME));
		await().atMost(LONG).untilAsserted(() -> assertThat(waiting).anyMatch(CompletableFuture::isDone));
		assertThat(settle(-1, TENANT)).isNotDone();
	}

	private HandDrivenNodes.CorrectionAttempt next() throws InterruptedException {
		HandDrivenNodes.CorrectionAttempt attempt = this.nodes.attempts.poll(60, TimeUnit.SECONDS);
		assertThat(attempt).isNotNull();
		return attempt;
	}

	private CompletableFuture<Settlement> settle(long permits, Counter... counters) {
		List<Reading> readings = List.of(counters)
			.stream()
			.map((counter) -> new Reading(counter, new long[0], TIME))
			.toList();
		Grant grant = new Grant(Permits.exactly(5), 5, readings, Decision.Source.REDIS);
		return this.counters.settle(new Correction("id", grant, permits, System.nanoTime(), 0)).toCompletableFuture();
	}

}
