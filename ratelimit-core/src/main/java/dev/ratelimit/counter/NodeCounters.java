package dev.ratelimit.counter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Settlement;

/**
 * Counters on several nodes, each of which can fail independently. One call takes
 * counters of one slot only; counters of several slots need several calls. A give-back is
 * done for each counter separately, so that it does not fail because of another one, for
 * example while their slot moves.
 */
public interface NodeCounters extends Counters {

	/**
	 * The slot of a counter: counters of one call must have the same.
	 */
	int slot(Counter counter);

	/**
	 * The name of the node that keeps the counter now. It may be shown and metered.
	 */
	String node(Counter counter);

	/**
	 * Takes permits from counters of one slot.
	 * @param node name of their node
	 * @param call gets the answer, perhaps before this method returns
	 */
	void acquire(String node, NodeCall call);

	/**
	 * Attempts a correction once.
	 * @param correction of counters that one call can correct
	 * @param last time of the node, in microseconds, after which it must not act
	 * @return fails if the node did not answer; it may have acted then
	 */
	CompletionStage<Corrected> settle(Correction correction, long last);

	/** Without the guard a correction is attempted once. */
	@Override
	default CompletionStage<Settlement> settle(Correction correction) {
		CompletionStage<Settlement> all = CompletableFuture.completedStage(Settlement.NOTHING);
		for (Correction call : correction.calls()) {
			all = all.thenCombine(settle(call, Long.MAX_VALUE >> 10).handle((corrected, failure) -> {
				Settlement outcome = (corrected != null) ? corrected.outcome() : null;
				return (outcome != null) ? outcome : Settlement.LOST;
			}), Settlement::and);
		}
		return all;
	}

}
