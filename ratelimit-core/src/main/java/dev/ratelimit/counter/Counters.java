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
 * Where counters are kept: the one interface of storage. Counters that do not answer are
 * {@link Grant.Gap gaps} of a grant, with the reason and perhaps with an answer that
 * comes late. Nothing is thrown.
 */
public interface Counters {

	/** For operators and tests, which can wait. */
	Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

	/**
	 * Takes permits from every counter or from none, as one step. A store without records
	 * decides every attempt of a request by itself.
	 * @param counters counters to take from
	 * @param permits how many to take; an exact number, not 0, if there is an attempt
	 * @param attempt {@code null} unless the request may be sent again
	 * @param timeout time after which an answer is useless
	 * @param answer called once, with the grant and perhaps before this method returns;
	 * it must not throw
	 */
	void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer);

	/**
	 * Takes permits that are worth having after the timeout too, such as a lease: later
	 * requests spend them.
	 * @param timeout time after which the answer is given, if need be with gaps
	 * @param refill how long the call goes on; what it takes after the timeout is the
	 * late answer of a gap
	 */
	default void refill(List<Counter> counters, Permits permits, Duration timeout, Refill refill,
			Consumer<Grant> answer) {
		acquire(counters, permits, null, timeout, answer);
	}

	/**
	 * Takes permits for a caller that wants a future.
	 */
	default CompletableFuture<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		return acquire(counters, permits, null, timeout);
	}

	/**
	 * Takes permits for a request that may be sent again.
	 */
	default CompletableFuture<Grant> acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt,
			Duration timeout) {
		CompletableFuture<Grant> answer = new CompletableFuture<>();
		acquire(counters, permits, attempt, timeout, answer::complete);
		return answer;
	}

	/**
	 * Takes permits with the default timeout.
	 */
	default CompletableFuture<Grant> acquire(List<Counter> counters, Permits permits) {
		return acquire(counters, permits, DEFAULT_TIMEOUT);
	}

	/**
	 * Reads counters completely and takes nothing. A check of cost 0 may look at less.
	 */
	default CompletionStage<Grant> read(List<Counter> counters) {
		return acquire(counters, Permits.NONE);
	}

	/**
	 * Gives back permits of a grant, to each of its counters. Does nothing where the
	 * window of the grant is over and never raises a counter above full.
	 * @param permits how many permits, at most those of the grant
	 */
	CompletionStage<Void> giveBack(Grant grant, long permits);

	/**
	 * Corrects what a grant took: gives permits back as {@link #giveBack} does, or
	 * charges permits that were used already, without a check. A charge leaves a debt of
	 * at most one burst.
	 * @return never fails
	 */
	CompletionStage<Settlement> settle(Correction correction);

	/**
	 * Resets counters to full.
	 */
	CompletionStage<Void> reset(List<Counter> counters);

	/**
	 * Permits of a counter that were taken ahead and are not spent yet. The store counts
	 * them as used.
	 */
	default long held(Counter counter) {
		return 0;
	}

	/**
	 * The largest cost that a counter can ever admit at once.
	 */
	default long largestCost(Counter counter) {
		return counter.spec().largestCost();
	}

	/**
	 * The source of decisions by these counters.
	 */
	Decision.Source source();

}
