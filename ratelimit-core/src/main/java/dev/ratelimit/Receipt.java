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
	 * This receipt as bytes, with which another instance can settle what the decision
	 * took and what was not given back. They contain keys of counters and quotas, and no
	 * value of the caller. They are not signed: do not accept them from a party that may
	 * not change counters.
	 *
	 * <p>
	 * They do not contain grants that came after the deadline, shares that this instance
	 * counted itself in an outage, and counters of versions on trial: only
	 * {@link #settle} settles these, for others the estimate stands. Of all settles and
	 * give-backs after this call, here and elsewhere, only the first has an effect; a
	 * give-back of some permits settles the rest as the true cost.
	 * @param validFor how long a settle may begin, here or elsewhere
	 * @return {@code null} if nothing can be settled, or the counters are in this process
	 */
	default byte @Nullable [] encode(Duration validFor) {
		return null;
	}

}
