package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.counter.UnansweredException;

/**
 * Tells listeners and the log what happens, the log only when something changes: each
 * reason once in an episode, which is over when nothing has failed for a while. While one
 * node of several fails, checks fail and succeed in turn, and that is one change, not
 * thousands.
 */
final class Observers {

	private static final Logger logger = LoggerFactory.getLogger(PolicyRateLimiter.class);

	private static final long QUIET_NANOS = Duration.ofSeconds(10).toNanos();

	/** How many names of policies that do not exist are logged. */
	private static final int MAX_UNKNOWN = 100;

	private final List<DecisionListener> listeners;

	private final LongSupplier nanos;

	/** One bit for each reason that was seen in this episode. */
	private final AtomicLong seen = new AtomicLong();

	private volatile Decision.Reason last = Decision.Reason.INTERNAL;

	private volatile long lastSeen;

	private final AtomicBoolean unresolved = new AtomicBoolean();

	private final Set<String> unknown = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean listenerFailing = new AtomicBoolean();

	private final AtomicBoolean notCompared = new AtomicBoolean();

	Observers(List<DecisionListener> listeners, LongSupplier nanos) {
		this.listeners = List.copyOf(listeners);
		this.nanos = nanos;
	}

	Decision observe(Request request, Decision decision, long start) {
		long nanos = System.nanoTime() - start;
		for (DecisionListener listener : this.listeners) {
			try {
				listener.decided(request, decision, nanos);
			}
			catch (RuntimeException ex) {
				listenerFailed(ex);
			}
		}
		return decision;
	}

	/**
	 * A version that is tried out has decided.
	 */
	void tried(Request request, Decision decision) {
		for (DecisionListener listener : this.listeners) {
			try {
				listener.tried(request, decision);
			}
			catch (RuntimeException ex) {
				listenerFailed(ex);
			}
		}
	}

	private void listenerFailed(RuntimeException failure) {
		if (this.listenerFailing.compareAndSet(false, true)) {
			logger.warn("A decision listener failed; decisions are not affected, and it is still called", failure);
		}
	}

	/**
	 * Counters did not answer.
	 * @return why
	 */
	Decision.Reason unanswered(UnansweredException failure) {
		Decision.Reason reason = failure.reason();
		if (reason == Decision.Reason.NOT_AWAITED) {
			// Not the counters' fault: nobody gave them time.
			return reason;
		}
		this.last = reason;
		this.lastSeen = this.nanos.getAsLong();
		long bit = 1L << reason.ordinal();
		if ((this.seen.get() & bit) == 0 && (this.seen.getAndUpdate((bits) -> bits | bit) & bit) == 0) {
			String what = "Checks cannot be decided ({}: {}); policies use their failure mode for them";
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
	 * A request could not be resolved: its own fault or an extension's, not the
	 * counters'. Logged once, as a caller may be able to bring it about.
	 */
	void unresolved(Throwable failure) {
		if (this.unresolved.compareAndSet(false, true)) {
			logger.warn(
					"A request could not be resolved ({}); its policy's failure mode answers, and so for all like it",
					failure.getMessage());
		}
	}

	/**
	 * A request names a policy that does not exist. Each name is logged once, and only
	 * one that a policy could have, as a caller may be able to choose it.
	 */
	void unknownPolicy(String id, FailureMode mode) {
		if (this.unknown.size() < MAX_UNKNOWN && Policy.isId(id) && this.unknown.add(id)) {
			logger.warn("A request names policy '{}', which does not exist; such requests are answered by '{}' "
					+ "(ratelimit.on-unknown-policy) until it does", id, mode.name().toLowerCase(Locale.ROOT));
		}
	}

	/**
	 * A version that is tried out could not be asked. Logged once: no request depends on
	 * it.
	 */
	void notCompared(Throwable failure) {
		if (this.notCompared.compareAndSet(false, true)) {
			logger.warn("A version that is tried out could not be compared; decisions are not affected", failure);
		}
	}

	/**
	 * Counters did answer.
	 */
	void answered() {
		if (this.seen.get() != 0 && isQuiet() && this.seen.getAndSet(0) != 0) {
			logger.info("No check has failed for {} s; policies are enforced",
					Duration.ofNanos(QUIET_NANOS).toSeconds());
		}
	}

	/**
	 * Why counters did not answer a moment ago, {@code null} if they did.
	 */
	Decision.@Nullable Reason degraded() {
		return (this.seen.get() != 0 && !isQuiet()) ? this.last : null;
	}

	private boolean isQuiet() {
		return this.nanos.getAsLong() - this.lastSeen > QUIET_NANOS;
	}

}
