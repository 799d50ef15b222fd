package dev.ratelimit.limiter;

import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;
import dev.ratelimit.counter.CorruptCounterException;

/**
 * Tells listeners and the log what happens, the log only when something changes.
 */
final class Observers {

	private static final Logger logger = LoggerFactory.getLogger(PolicyRateLimiter.class);

	private final List<DecisionListener> listeners;

	private final AtomicReference<Decision.@Nullable Reason> degraded = new AtomicReference<>();

	private final AtomicBoolean unresolved = new AtomicBoolean();

	private final AtomicBoolean listenerFailing = new AtomicBoolean();

	Observers(List<DecisionListener> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	Decision observe(Request request, Decision decision, long start) {
		long nanos = System.nanoTime() - start;
		for (DecisionListener listener : this.listeners) {
			try {
				listener.decided(request, decision, nanos);
			}
			catch (RuntimeException ex) {
				if (this.listenerFailing.compareAndSet(false, true)) {
					logger.warn("A decision listener failed; decisions are not affected, and it is still called", ex);
				}
			}
		}
		return decision;
	}

	/**
	 * The counters could not answer.
	 * @return why
	 */
	Decision.Reason degraded(Throwable failure) {
		Throwable cause = cause(failure);
		Decision.Reason reason = reason(cause);
		if (this.degraded.getAndSet(reason) != reason) {
			String what = "Checks cannot be decided ({}: {}); policies now use their failure mode";
			if (reason == Decision.Reason.INTERNAL) {
				logger.error(what, reason.text(), cause.getMessage(), cause);
			}
			else {
				logger.warn(what, reason.text(), cause.getMessage());
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
					cause(failure).getMessage());
		}
	}

	void recovered() {
		if (this.degraded.get() != null && this.degraded.getAndSet(null) != null) {
			logger.info("Checks are decided again; policies are enforced");
		}
	}

	/**
	 * Why the last check was not decided by the counters, {@code null} if it was.
	 */
	Decision.@Nullable Reason degraded() {
		return this.degraded.get();
	}

	private static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	private static Decision.Reason reason(Throwable failure) {
		if (failure instanceof TimeoutException) {
			return Decision.Reason.TIMEOUT;
		}
		if (failure instanceof CorruptCounterException) {
			return Decision.Reason.CORRUPT;
		}
		boolean redis = failure.getClass().getName().startsWith("io.lettuce.");
		return redis ? Decision.Reason.UNAVAILABLE : Decision.Reason.INTERNAL;
	}

}
