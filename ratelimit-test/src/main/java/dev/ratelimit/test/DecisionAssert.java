package dev.ratelimit.test;

import java.time.Duration;

import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;

/**
 * Assertions on decisions. A failure shows the decision, which has no value of a caller
 * in it.
 */
public final class DecisionAssert extends AbstractAssert<DecisionAssert, Decision> {

	private DecisionAssert(@Nullable Decision actual) {
		super(actual, DecisionAssert.class);
	}

	public static DecisionAssert assertThat(@Nullable Decision actual) {
		return new DecisionAssert(actual);
	}

	public DecisionAssert isAllowed() {
		isNotNull();
		return require(this.actual.allowed(), "Expected the request to be allowed, but it was %s", this.actual);
	}

	public DecisionAssert isRefused() {
		isNotNull();
		return require(!this.actual.allowed(), "Expected the request to be refused, but it was %s", this.actual);
	}

	/**
	 * Refused by the limit of this name.
	 */
	public DecisionAssert isRefusedBy(String limit) {
		isRefused();
		boolean refuses = this.actual.limits()
			.stream()
			.anyMatch((status) -> status.refuses() && status.limit().name().equals(limit));
		return require(refuses, "Expected limit '%s' to refuse, but it was %s", limit, this.actual);
	}

	/**
	 * The permits that the most constrained quota has left.
	 */
	public DecisionAssert hasRemaining(long remaining) {
		isNotNull();
		long actual = this.actual.limits().stream().mapToLong(LimitStatus::remaining).min().orElse(-1);
		return require(actual == remaining, "Expected %d permits to be left, but there are %d after %s", remaining,
				actual, this.actual);
	}

	/**
	 * The wait until the same request is allowed, of the limit that takes longest.
	 */
	public DecisionAssert hasRetryAfter(Duration wait) {
		isRefused();
		Duration actual = this.actual.limits()
			.stream()
			.map(LimitStatus::retryAfter)
			.max(Duration::compareTo)
			.orElse(Duration.ZERO);
		return require(actual.equals(wait), "Expected to retry after %s, but it is %s in %s", wait, actual,
				this.actual);
	}

	/**
	 * Not decided by the counters: Redis did not answer, or the switch is on.
	 */
	public DecisionAssert isDegraded() {
		isNotNull();
		return require(this.actual.degraded(), "Expected the decision to be degraded, but it was %s", this.actual);
	}

	/**
	 * Admitted again without being counted, as a retry of an admitted request.
	 */
	public DecisionAssert isReplay() {
		isAllowed();
		return require(this.actual.replay(), "Expected the request to be a replay, but it was %s", this.actual);
	}

	/**
	 * Decided and counted by itself.
	 */
	public DecisionAssert isNotReplay() {
		isNotNull();
		return require(!this.actual.replay(), "Expected the request not to be a replay, but it was %s", this.actual);
	}

	private DecisionAssert require(boolean condition, String message, Object... arguments) {
		if (!condition) {
			failWithMessage(message, arguments);
		}
		return this;
	}

}
