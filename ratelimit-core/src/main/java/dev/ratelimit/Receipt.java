package dev.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Gives back the permits of a decision, or settles its true cost.
 */
@FunctionalInterface
public interface Receipt {

	/** The receipt of a decision that took nothing. */
	Receipt NOTHING = (permits) -> CompletableFuture.completedStage(null);

	/**
	 * Gives permits back. Has no effect on permits whose window is over, and never makes
	 * a counter more than full.
	 */
	CompletionStage<Void> giveBack(long permits);

	/**
	 * Settles the true cost. Only the first call has an effect, and only if the policy
	 * has a {@code cost}.
	 * @param actual the true cost, at least 0
	 * @return never fails
	 */
	default CompletionStage<Settlement> settle(long actual) {
		return CompletableFuture.completedStage(Settlement.NOTHING);
	}

	/**
	 * How the policy learns the true cost, {@code null} if this receipt cannot be
	 * settled.
	 */
	default @Nullable Settling settling() {
		return null;
	}

	/**
	 * Reports that the response did not name the true cost. The estimate stands, unless
	 * {@link #settle} is called.
	 */
	default void costUnknown() {
	}

	/**
	 * This receipt as bytes, with which another instance can settle. They contain keys of
	 * counters and quotas, and no value of the caller. They are not signed: do not accept
	 * them from a party that may not change counters.
	 * @param validFor how long a settle may begin, here or elsewhere
	 * @return {@code null} if nothing can be settled, or the counters are in this process
	 */
	default byte @Nullable [] encode(Duration validFor) {
		return null;
	}

}
