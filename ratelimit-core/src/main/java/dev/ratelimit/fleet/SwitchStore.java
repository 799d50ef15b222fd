package dev.ratelimit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Where the big red switch is kept, so that the whole fleet sees it. Never throws: what
 * cannot be written completes exceptionally.
 */
public interface SwitchStore {

	/** For an instance that shares nothing. */
	SwitchStore NONE = new SwitchStore() {

		@Override
		public CompletionStage<Void> put(ForcedMode forced) {
			return CompletableFuture.completedStage(null);
		}

		@Override
		public CompletionStage<Void> clear() {
			return CompletableFuture.completedStage(null);
		}

	};

	/**
	 * Turns it on; it goes off by itself when no time is left.
	 */
	CompletionStage<Void> put(ForcedMode forced);

	/**
	 * Turns it off.
	 */
	CompletionStage<Void> clear();

}
