package dev.ratelimit.counter;

import java.util.List;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Decision;

/**
 * Where counters are kept: the one interface of storage. Failures complete the stage
 * exceptionally and never throw.
 */
public interface Counters {

	/**
	 * Takes permits from every counter or from none, as one step.
	 */
	CompletionStage<Grant> acquire(List<Counter> counters, Permits permits);

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
	 * What decisions made here name as their source.
	 */
	Decision.Source source();

}
