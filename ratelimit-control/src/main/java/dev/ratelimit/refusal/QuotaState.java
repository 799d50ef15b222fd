package dev.ratelimit.refusal;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;

/**
 * The quota that a decision was about, with its state at the time.
 *
 * @param by names of the dimensions that the limit counts by
 * @param resetAfter until the counter is full again
 * @param retryAfter until the cost fits, negative if never
 */
public record QuotaState(String limit, List<String> by, Quota quota, long remaining, Duration resetAfter,
		Duration retryAfter) {

	public QuotaState {
		by = List.copyOf(by);
	}

	static @Nullable QuotaState of(Decision decision) {
		LimitStatus status = decision.decisive();
		if (status == null) {
			return null;
		}
		return new QuotaState(status.limit().name(), status.limit().by().stream().map(Dimension::name).toList(),
				status.quota(), Math.max(0, status.remaining()), status.resetAfter(),
				status.neverFits() ? Duration.ofMillis(-1) : status.retryAfter());
	}

	boolean neverFits() {
		return this.retryAfter.isNegative();
	}

	long used() {
		return Math.max(0, this.quota.burst() - this.remaining);
	}

}
