package dev.ratelimit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What a decision took, so that it can be given back.
 */
@FunctionalInterface
public interface Receipt {

	/** The receipt of a decision that took nothing. */
	Receipt NOTHING = (permits) -> CompletableFuture.completedStage(null);

	/**
	 * Gives permits back. Does nothing for permits whose window is over and never fills a
	 * counter beyond full.
	 */
	CompletionStage<Void> giveBack(long permits);

}
