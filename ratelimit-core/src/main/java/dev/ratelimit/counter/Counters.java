package dev.ratelimit.counter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Decision;

/**
 * Where counters are kept: the one interface of storage. Failures complete the stage
 * exceptionally, with an {@link UnansweredException} where the reason is known, and never
 * throw.
 */
public interface Counters {

	/** For those who are in no hurry: an operator, a test. */
	Duration PATIENCE = Duration.ofSeconds(1);

	/**
	 * Takes permits from every counter or from none, as one step.
	 * @param counters what to take from
	 * @param permits how many
	 * @param timeout how long an answer is of use
	 */
	CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout);

	/**
	 * Takes permits without hurry.
	 */
	default CompletionStage<Grant> acquire(List<Counter> counters, Permits permits) {
		return acquire(counters, permits, PATIENCE);
	}

	/**
	 * Gives back permits of a grant, to each of its counters. Does nothing where the
	 * window of the grant is over and never raises a counter above full.
	 * @param grant what was taken
	 * @param permits how many of them, at most what was granted
	 */
	CompletionStage<Void> giveBack(Grant grant, long permits);

	/**
	 * Forgets all that was counted.
	 */
	CompletionStage<Void> reset(List<Counter> counters);

	/**
	 * Permits of a counter that were taken ahead and are not spent yet. To the store they
	 * are used.
	 */
	default long held(Counter counter) {
		return 0;
	}

	/**
	 * What decisions made here name as their source.
	 */
	Decision.Source source();

}
