package dev.ratelimit.limiter;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * A check: the future that its caller has, and the end to which the counters report. If
 * the caller cancels it, neither counters, guard nor listeners notice.
 */
final class Check extends CompletableFuture<Decision> implements Consumer<Grant> {

	private final PolicyRateLimiter limiter;

	private final PolicySet policies;

	private final Request request;

	private final long start = System.nanoTime();

	private final long correction;

	/** Known before penalties, the switch and the counters are asked. */
	private @Nullable Match match;

	/** Only the first answer counts. A second one comes if handing over failed. */
	private boolean answered;

	/**
	 * @param correction permits to charge for a request that has already taken place, or
	 * if negative to give back; 0 for a request that is yet to take place
	 */
	Check(PolicyRateLimiter limiter, PolicySet policies, Request request, long correction) {
		this.limiter = limiter;
		this.policies = policies;
		this.request = request;
		this.correction = correction;
	}

	PolicySet policies() {
		return this.policies;
	}

	Request request() {
		return this.request;
	}

	/**
	 * Permits to charge or, if negative, to give back after the counters were read.
	 */
	long correction() {
		return this.correction;
	}

	/** When it began, in nanoseconds of the JVM's clock. */
	long start() {
		return this.start;
	}

	Match match() {
		return Objects.requireNonNull(this.match);
	}

	/** The policy as it applies to the caller; {@code null} until it is known. */
	@Nullable Match known() {
		return this.match;
	}

	void match(Match match) {
		this.match = match;
	}

	/** Ignores what the counters may still report. */
	void close() {
		this.answered = true;
	}

	@Override
	public void accept(Grant grant) {
		if (this.answered) {
			return;
		}
		this.answered = true;
		try {
			this.limiter.answered(this, grant);
		}
		catch (Throwable ex) {
			completeExceptionally(ex);
		}
	}

}
