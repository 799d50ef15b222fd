package dev.ratelimit.fleet;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Keeps the emergency switch for the whole fleet. Never throws: a failed write completes
 * exceptionally.
 */
public interface SwitchStore {

	/** For a single instance. */
	SwitchStore NONE = new SwitchStore() {

		@Override
		public CompletionStage<Void> put(ForcedMode forced) {
			return CompletableFuture.completedStage(null);
		}

		@Override
		public CompletionStage<Void> clear(Duration left) {
			return CompletableFuture.completedStage(null);
		}

		@Override
		public CompletionStage<Boolean> restore(ForcedMode forced) {
			return CompletableFuture.completedStage(false);
		}

	};

	/**
	 * Turns the switch on until its time is over.
	 */
	CompletionStage<Void> put(ForcedMode forced);

	/**
	 * Turns it off and records that, so that no instance takes its absence for a loss.
	 * @param left how long the record is needed: until the switch would have ended
	 */
	CompletionStage<Void> clear(Duration left);

	/**
	 * Writes a switch again that the store has lost, unless there is a record of it.
	 * @return whether this call wrote it
	 */
	CompletionStage<Boolean> restore(ForcedMode forced);

}
