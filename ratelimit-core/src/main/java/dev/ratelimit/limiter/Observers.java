package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.EnumText;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.counter.UnansweredException;

/**
 * Notifies listeners of each decision, and logs changes only: each reason once in an
 * episode, which ends when no check has failed for ten seconds. While one node of several
 * fails, checks fail and succeed in turn, and that is one change, not thousands.
 */
final class Observers {

	private static final Logger logger = LoggerFactory.getLogger(PolicyRateLimiter.class);

	private static final long QUIET_NANOS = Duration.ofSeconds(10).toNanos();

	/** Largest number of unknown policies that are logged. */
	private static final int MAX_UNKNOWN = 100;

	private final DecisionListener[] listeners;

	private final LongSupplier nanos;

	/** One bit for each reason that was seen in this episode. */
	private final AtomicLong seen = new AtomicLong();

	private volatile Decision.Reason last = Decision.Reason.INTERNAL;

	private volatile long lastSeen;

	private final FailureLog unresolved = FailureLog.once(logger,
			"A request could not be resolved ({}). The failure mode of its policy decides, now and for similar requests.");

	private final Set<String> unknown = ConcurrentHashMap.newKeySet();

	private final FailureLog listenerFailures = FailureLog.once(logger,
			"A decision listener failed. Decisions are not affected, and it is still called.");

	private final FailureLog notCompared = FailureLog.once(logger,
			"A policy version on trial could not be compared. Decisions are not affected.");

	Observers(List<DecisionListener> listeners, LongSupplier nanos) {
		this.listeners = listeners.toArray(DecisionListener[]::new);
		this.nanos = nanos;
	}

	Decision observe(Request request, Decision decision, long start) {
		long now = this.nanos.getAsLong();
		long nanos = now - start;
		if (decision.reason() == Decision.Reason.LIMITS && !decision.degraded()) {
			answered(now);
		}
		for (DecisionListener listener : this.listeners) {
			try {
				listener.decided(request, decision, nanos);
			}
			catch (Throwable ex) {
				this.listenerFailures.failed(ex);
			}
		}
		return decision;
	}

	void tried(Request request, Decision decision) {
		callAll((listener) -> listener.tried(request, decision));
	}

	Settlement settled(String policy, Settlement settlement) {
		if (settlement != Settlement.NOTHING) {
			callAll((listener) -> listener.settled(policy, settlement));
		}
		return settlement;
	}

	private void callAll(Consumer<DecisionListener> call) {
		for (DecisionListener listener : this.listeners) {
			try {
				call.accept(listener);
			}
			catch (Throwable ex) {
				this.listenerFailures.failed(ex);
			}
		}
	}

	/**
	 * Reports that counters did not answer.
	 * @return the reason
	 */
	Decision.Reason unanswered(UnansweredException failure) {
		Decision.Reason reason = failure.reason();
		if (reason == Decision.Reason.NOT_AWAITED) {
			// Not the counters' fault: the caller did not wait.
			return reason;
		}
		this.last = reason;
		this.lastSeen = this.nanos.getAsLong();
		long bit = 1L << reason.ordinal();
		if ((this.seen.get() & bit) == 0 && (this.seen.getAndUpdate((bits) -> bits | bit) & bit) == 0) {
			String what = "Counters did not answer ({}: {}). Policies now use their failure mode.";
			if (reason == Decision.Reason.INTERNAL) {
				logger.error(what, reason.text(), failure.getMessage(), failure.getCause());
			}
			else {
				logger.warn(what, reason.text(), failure.getMessage());
			}
		}
		return reason;
	}

	/**
	 * Reports a request that could not be resolved, because of its content or an
	 * extension. Logged once, because a caller may be able to provoke it.
	 */
	void unresolved(Throwable failure) {
		this.unresolved.failed(failure.getMessage());
	}

	/**
	 * Reports a request whose policy does not exist. Each name is logged once, and only
	 * if it is a valid id, because a caller may be able to choose it.
	 */
	void unknownPolicy(String id, FailureMode mode) {
		if (this.unknown.size() < MAX_UNKNOWN && Policy.isId(id) && this.unknown.add(id)) {
			logger.warn("A request names policy '{}', which does not exist; such requests are answered by '{}' "
					+ "(ratelimit.on-unknown-policy) until it does", id, EnumText.of(mode));
		}
	}

	/**
	 * Reports a trial that failed. Logged once: no request depends on it.
	 */
	void notCompared(Throwable failure) {
		this.notCompared.failed(failure);
	}

	void answered(long now) {
		if (this.seen.get() != 0 && isQuiet(now) && this.seen.getAndSet(0) != 0) {
			logger.info("No check has failed for {} s. Policies are enforced again.",
					Duration.ofNanos(QUIET_NANOS).toSeconds());
		}
	}

	Decision.@Nullable Reason degraded() {
		return (this.seen.get() != 0 && !isQuiet(this.nanos.getAsLong())) ? this.last : null;
	}

	private boolean isQuiet(long now) {
		return now - this.lastSeen > QUIET_NANOS;
	}

}
