package dev.ratelimit;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * The answer to a request.
 *
 * @param policy id of the policy that decided
 * @param version its version
 * @param outcome what was decided
 * @param source who answered
 * @param degraded whether the answer was given without the counters that should have
 * given it
 * @param cost permits that were asked for
 * @param granted permits that were taken; less than the cost only when the request said
 * so
 * @param limits every quota of every limit that was checked
 * @param receipt what can be given back
 */
public record Decision(String policy, long version, Outcome outcome, Source source, boolean degraded, long cost,
		long granted, List<LimitStatus> limits, Receipt receipt) {

	private static final Comparator<LimitStatus> MOST_CONSTRAINED = Comparator.comparingLong(LimitStatus::remaining)
		.thenComparing(Comparator.comparingLong(LimitStatus::resetAfterMicros).reversed());

	private static final Comparator<LimitStatus> LONGEST_WAIT = Comparator
		.comparingLong((status) -> status.neverFits() ? Long.MAX_VALUE : status.retryAfterMicros());

	public boolean allowed() {
		return this.outcome == Outcome.ALLOWED;
	}

	/**
	 * The quota that a caller should know about: on refusal the one with the longest
	 * wait, otherwise the one with the fewest permits left, then the longest reset;
	 * {@code null} when no counter was asked.
	 */
	public @Nullable LimitStatus decisive() {
		LimitStatus refusing = refusedBy();
		return (refusing != null) ? refusing : this.limits.stream().min(MOST_CONSTRAINED).orElse(null);
	}

	/**
	 * The quota that refused, the one with the longest wait if there are several.
	 */
	public @Nullable LimitStatus refusedBy() {
		return this.limits.stream().filter(LimitStatus::refuses).max(LONGEST_WAIT).orElse(null);
	}

	/**
	 * How long to wait before the same request would be admitted, zero when it was or
	 * never will be.
	 */
	public Duration retryAfter() {
		LimitStatus refusing = refusedBy();
		return (refusing != null) ? refusing.retryAfter() : Duration.ZERO;
	}

	/**
	 * Whether the cost is larger than a burst, so that waiting does not help.
	 */
	public boolean neverFits() {
		return this.limits.stream().anyMatch(LimitStatus::neverFits);
	}

	/**
	 * Permits left under the decisive quota, -1 when no counter was asked.
	 */
	public long remaining() {
		LimitStatus decisive = decisive();
		return (decisive != null) ? decisive.remaining() : -1;
	}

	/**
	 * Gives back all that was taken.
	 */
	public CompletionStage<Void> giveBack() {
		return this.receipt.giveBack(this.granted);
	}

	/**
	 * What was decided.
	 */
	public enum Outcome {

		ALLOWED, REFUSED;

		public String text() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

	/**
	 * Who answered.
	 */
	public enum Source {

		REDIS, MEMORY;

		public String text() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

}
