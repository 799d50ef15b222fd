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
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.UnansweredException;

/**
 * One node as seen by its checks: whether it may be called, how many checks wait for it,
 * and the outcome of the last ones.
 */
final class Node {

	/** Bounds the time to count the checks of one call. */
	private static final int MOST_COUNTED = 1_000;

	private static final Logger logger = LoggerFactory.getLogger(Node.class);

	private final String name;

	private final CircuitBreaker breaker;

	private final int maxWaiting;

	private final NodeListener listener;

	private final WallClock clock = new WallClock();

	private final AtomicInteger waiting = new AtomicInteger();

	/** Calls whose callers have given up and whose outcome is not known yet. */
	private final AtomicInteger judging = new AtomicInteger();

	private final UnansweredException breakerOpen;

	private final UnansweredException saturated;

	private final UnansweredException notSent;

	/** When the newest call was sent that the node answered in time. */
	private volatile long answered = NodeCall.NOT_SENT;

	private volatile Decision.Reason lastFailure = Decision.Reason.UNAVAILABLE;

	private volatile long openSince;

	/** As last reported. Asking is far cheaper than listening to the breaker's events. */
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
		this.notSent = new UnansweredException(Decision.Reason.SATURATED,
				"the deadline passed before the check could be sent to node " + name)
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
	 * Frees the place of a check that has its answer or has given up.
	 */
	void leave() {
		this.waiting.decrementAndGet();
	}

	/**
	 * Asks whether the outcome of a call that was given up is wanted. If so,
	 * {@link #judged()} must follow. At most as many are wanted as may wait for the node.
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
	 * Ends a check whose outcome says nothing about the node.
	 */
	void spared() {
		this.breaker.releasePermission();
	}

	/**
	 * The reason for a missing answer to a check that was never sent.
	 */
	UnansweredException notSent() {
		return this.notSent;
	}

	/**
	 * Ends a check that was never sent. It says nothing about a node that is being tried:
	 * the next check tries it.
	 * @param spared whether it does not count against the node
	 */
	void notSent(UnansweredException failure, long nanos, boolean spared) {
		if (spared || this.breaker.getState() == CircuitBreaker.State.HALF_OPEN) {
			spared();
		}
		else {
			this.lastFailure = failure.reason();
			count(failure, nanos);
			watch();
		}
		failed(failure);
	}

	/**
	 * Whether the node answered a call that was sent after this time.
	 */
	boolean answeredSince(long time) {
		long answered = this.answered;
		return answered != NodeCall.NOT_SENT && answered - time >= 0;
	}

	/**
	 * Ends a check that was answered.
	 * @param start when it began
	 * @param replied when the reply came
	 * @param sent when it was sent
	 * @param counts whether the answer is a success, not merely late
	 */
	void answered(Grant grant, long start, long replied, long sent, boolean counts) {
		long nanos = replied - start;
		if (sent != NodeCall.NOT_SENT && !grant.readings().isEmpty() && !answeredSince(sent)) {
			this.answered = sent;
		}
		if (counts) {
			count(null, nanos);
		}
		else {
			spared();
		}
		watch();
		if (!grant.readings().isEmpty()) {
			long asked = this.clock.micros(replied) - nanos / 2_000;
			long skew = grant.readings().get(0).time() - asked;
			this.listener.answered(this.name, nanos, skew);
		}
	}

	/**
	 * Ends a check that was not answered.
	 * @param checks how many checks the breaker counts: others may have waited for it
	 */
	void failed(UnansweredException failure, long nanos, int checks) {
		if (isNodeAtFault(failure.reason())) {
			this.lastFailure = failure.reason();
			for (int i = Math.min(checks, MOST_COUNTED); i > 0; i--) {
				count(failure, nanos);
			}
			watch();
		}
		else {
			spared();
		}
		failed(failure);
	}

	/**
	 * Counts an outcome, a success if there is no failure. The first outcome of a node
	 * that is being tried opens or closes its breaker. Those that follow while it is open
	 * are left out: they change nothing, and Resilience4j's lock-free window has one
	 * place then and throws a NullPointerException for the second, as in
	 * resilience4j/resilience4j#2379.
	 */
	private void count(@Nullable UnansweredException failure, long nanos) {
		if (this.breaker.getState() == CircuitBreaker.State.CLOSED) {
			record(failure, nanos);
			return;
		}
		synchronized (this) {
			if (!open()) {
				record(failure, nanos);
			}
		}
	}

	private void record(@Nullable UnansweredException failure, long nanos) {
		if (failure != null) {
			this.breaker.onError(nanos, TimeUnit.NANOSECONDS, failure);
		}
		else {
			this.breaker.onSuccess(nanos, TimeUnit.NANOSECONDS);
		}
	}

	void giveBackLost() {
		this.listener.giveBackLost(this.name);
	}

	/**
	 * Whether the breaker is open, for callers other than checks.
	 */
	boolean open() {
		return this.breaker.getState() == CircuitBreaker.State.OPEN;
	}

	/**
	 * An attempt is decided without its record. The node still counts as answering.
	 */
	void notRecorded(UnansweredException cause) {
		failed(cause);
	}

	/**
	 * Tries the node at once if its breaker is open: there is a new connection.
	 */
	void reconnected() {
		if (open()) {
			this.breaker.transitionToHalfOpenState();
			watch();
		}
	}

	/**
	 * Closes the breaker because other nodes answer for this one.
	 */
	synchronized void relieved() {
		if (state() != BreakerState.CLOSED) {
			this.breaker.transitionToClosedState();
			this.state = CircuitBreaker.State.CLOSED;
			logger.info("Redis node {} keeps no counters since a failover; other nodes enforce its limits after {}",
					this.name, outage());
			this.listener.changed(this.name, BreakerState.CLOSED);
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
		CircuitBreaker.State from = this.state;
		CircuitBreaker.State to = this.breaker.getState();
		if (from == to) {
			return;
		}
		this.state = to;
		if (from == CircuitBreaker.State.CLOSED && to == CircuitBreaker.State.OPEN) {
			this.openSince = System.nanoTime();
			logger.warn("Redis node {} fails ({}); its breaker is open, its limits now use their failure mode",
					this.name, this.lastFailure.text());
		}
		else if (to == CircuitBreaker.State.CLOSED) {
			logger.info("Redis node {} answers again after {}; its limits are enforced", this.name, outage());
		}
		this.listener.changed(this.name, state(to));
	}

	private Duration outage() {
		return Duration.ofNanos(System.nanoTime() - this.openSince).truncatedTo(ChronoUnit.MILLIS);
	}

	/**
	 * Corrupt values, moving slots and our own limit on waiting checks do not count
	 * against a node.
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
