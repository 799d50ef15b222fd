package dev.ratelimit.counter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settlement;

/**
 * Counters that answer as a test says: late, with gaps or not at all. Give-backs and
 * resets go to the counters that the test counts in.
 */
public class FakeCounters implements Counters {

	/** For tests in which no call is late. */
	public static final Timer NEVER = (delay, task) -> {
	};

	private final Counters store;

	private final Answer answer;

	/**
	 * Creates counters.
	 * @param store takes give-backs and resets
	 * @param answer answers requests, usually from the store
	 */
	public FakeCounters(Counters store, Answer answer) {
		this.store = store;
		this.answer = answer;
	}

	/** Counters to which nobody gets through. */
	public static FakeCounters failing(Counters store) {
		return new FakeCounters(store, (counters, permits, timeout) -> CompletableFuture
			.failedStage(new IllegalStateException("not reachable")));
	}

	/** The same grant as if Redis had made it. */
	public static Grant asRedis(Grant grant, List<Grant.Gap> gaps) {
		return new Grant(grant.wanted(), grant.permits(), grant.readings(), gaps, Decision.Source.REDIS);
	}

	@Override
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		this.answer.to(counters, permits, timeout)
			.exceptionally((failure) -> Grant.unanswered(permits, counters, failure))
			.thenAccept(answer);
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		return this.store.giveBack(grant, permits);
	}

	@Override
	public CompletionStage<Settlement> settle(Correction correction) {
		return this.store.settle(correction);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return this.store.reset(counters);
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.REDIS;
	}

	/** Answers a request. */
	@FunctionalInterface
	public interface Answer {

		CompletionStage<Grant> to(List<Counter> counters, Permits permits, Duration timeout);

	}

}
