package dev.ratelimit.guard;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.UnansweredException;

/**
 * One node as its checks see it: whether it may be asked, how many wait for it, how the
 * last ones fared.
 */
final class Node {

	private static final Logger logger = LoggerFactory.getLogger(Node.class);

	private final String name;

	private final CircuitBreaker breaker;

	private final int maxWaiting;

	private final NodeListener listener;

	private final AtomicInteger waiting = new AtomicInteger();

	/** Calls that nobody waits for any more, whose outcome is not known yet. */
	private final AtomicInteger judging = new AtomicInteger();

	private final UnansweredException breakerOpen;

	private final UnansweredException saturated;

	private volatile Decision.Reason lastFailure = Decision.Reason.UNAVAILABLE;

	private volatile long openSince;

	/** As last told. Asking is far cheaper than listening to the breaker's events. */
	private volatile CircuitBreaker.State state = CircuitBreaker.State.CLOSED;

	Node(String name, CircuitBreaker breaker, int maxWaiting, NodeListener listener) {
		this.name = name;
		this.breaker = breaker;
		this.maxWaiting = maxWaiting;
		this.listener = listener;
		this.breakerOpen = new UnansweredException(Decision.Reason.BREAKER_OPEN, "breaker of node " + name + " is open")
			.at(name);
		this.saturated = new UnansweredException(Decision.Reason.SATURATED,
				maxWaiting + " checks already wait for node " + name)
			.at(name);
		listener.changed(name, BreakerState.CLOSED);
	}

	String name() {
		return this.name;
	}

	/**
	 * Asks for permission to call the node. A caller that gets it must {@link #leave()}
	 * and report the outcome.
	 * @return the reason for a refusal, or {@code null}
	 */
	@Nullable UnansweredException enter() {
		boolean permitted = this.breaker.tryAcquirePermission();
		watch();
		if (!permitted) {
			return failed(this.breakerOpen);
		}
		if (this.waiting.incrementAndGet() > this.maxWaiting) {
			this.waiting.decrementAndGet();
			this.breaker.releasePermission();
			return failed(this.saturated);
		}
		return null;
	}

	/**
	 * The caller of a check has its answer, or has given up: its place is free.
	 */
	void leave() {
		this.waiting.decrementAndGet();
	}

	/**
	 * Asks whether the outcome of a call that was given up is wanted. If so,
	 * {@link #judged()} must follow. As many are enough as may wait for the node.
	 */
	boolean judgesLater() {
		if (this.judging.incrementAndGet() > this.maxWaiting) {
			this.judging.decrementAndGet();
			return false;
		}
		return true;
	}

	void judged() {
		this.judging.decrementAndGet();
	}

	/**
	 * A check ended in a way that says nothing about the node.
	 */
	void spared() {
		this.breaker.releasePermission();
	}

	void answered(Grant grant, long nanos) {
		this.breaker.onSuccess(nanos, TimeUnit.NANOSECONDS);
		watch();
		if (!grant.readings().isEmpty()) {
			long asked = System.currentTimeMillis() * 1_000 - nanos / 2_000;
			long skew = grant.readings().get(0).time() - asked;
			this.listener.answered(this.name, nanos, skew);
		}
	}

	void failed(UnansweredException failure, long nanos) {
		if (isNodeAtFault(failure.reason())) {
			this.lastFailure = failure.reason();
			this.breaker.onError(nanos, TimeUnit.NANOSECONDS, failure);
			watch();
		}
		else {
			spared();
		}
		failed(failure);
	}

	void giveBackLost() {
		this.listener.giveBackLost(this.name);
	}

	/**
	 * Whether the node is asked at all now, to those who have no check to make.
	 */
	boolean open() {
		return this.breaker.getState() == CircuitBreaker.State.OPEN;
	}

	/**
	 * There is a new connection, so that it is worth trying now.
	 */
	void reconnected() {
		if (open()) {
			this.breaker.transitionToHalfOpenState();
			watch();
		}
	}

	BreakerState state() {
		return state(this.breaker.getState());
	}

	private UnansweredException failed(UnansweredException failure) {
		this.listener.failed(this.name, failure.reason());
		return failure;
	}

	private void watch() {
		if (this.breaker.getState() != this.state) {
			turned();
		}
	}

	private synchronized void turned() {
		CircuitBreaker.State before = this.state;
		CircuitBreaker.State now = this.breaker.getState();
		if (now != before) {
			this.state = now;
			changed(before, now);
		}
	}

	private void changed(CircuitBreaker.State from, CircuitBreaker.State to) {
		if (from == CircuitBreaker.State.CLOSED && to == CircuitBreaker.State.OPEN) {
			this.openSince = System.nanoTime();
			logger.warn("Redis node {} fails ({}); its breaker is open, its limits now use their failure mode",
					this.name, this.lastFailure.text());
		}
		else if (to == CircuitBreaker.State.CLOSED) {
			logger.info("Redis node {} answers again after {}; its limits are enforced", this.name,
					Duration.ofNanos(System.nanoTime() - this.openSince).truncatedTo(ChronoUnit.MILLIS));
		}
		this.listener.changed(this.name, state(to));
	}

	/**
	 * A node is not to blame for a strange value, for moving slots or for our own limit.
	 */
	private static boolean isNodeAtFault(Decision.Reason reason) {
		return switch (reason) {
			case CORRUPT, RESHARDING, SATURATED, BREAKER_OPEN, INTERNAL -> false;
			default -> true;
		};
	}

	private static BreakerState state(CircuitBreaker.State state) {
		return switch (state) {
			case OPEN, FORCED_OPEN -> BreakerState.OPEN;
			case HALF_OPEN -> BreakerState.HALF_OPEN;
			case CLOSED, DISABLED, METRICS_ONLY -> BreakerState.CLOSED;
		};
	}

}
