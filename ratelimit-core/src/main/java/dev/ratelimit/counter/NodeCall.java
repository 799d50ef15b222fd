package dev.ratelimit.counter;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call to one node: the request, its place in the queue of the store, and the end
 * that the store reports to. A check is one such object from the guard to the reply.
 */
public abstract class NodeCall {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** Value of {@link #sent()} for a call that still waits. */
	public static final long NOT_SENT = Long.MIN_VALUE;

	private static final long NOT_REPLIED = Long.MIN_VALUE;

	private final List<Counter> counters;

	private final Permits permits;

	private final long since;

	private final long start = System.nanoTime();

	private final long deadline;

	private volatile long sent = NOT_SENT;

	private long replied = NOT_REPLIED;

	private @Nullable NodeCall next;

	/**
	 * @param counters of one slot and one algorithm
	 * @param since 0 to take permits; to give permits back, the time when they were taken
	 * @param timeout time after which it is not sent
	 */
	protected NodeCall(List<Counter> counters, Permits permits, long since, Duration timeout) {
		this.counters = counters;
		this.permits = permits;
		this.since = since;
		this.deadline = this.start + timeout.toNanos();
	}

	/**
	 * The node has answered. Never throws.
	 */
	public abstract void answered(Grant grant);

	/**
	 * No answer will come. Never throws.
	 */
	public abstract void failed(UnansweredException failure);

	/**
	 * Reports that no answer will come. An error of the receiver ends here, because the
	 * calls behind this one still have to hear of theirs.
	 */
	public final void fail(Throwable failure) {
		try {
			failed(UnansweredException.of(failure));
		}
		catch (Throwable ex) {
			logger.error("The receiver of a failed check threw an error", ex);
		}
	}

	public final List<Counter> counters() {
		return this.counters;
	}

	public final Permits permits() {
		return this.permits;
	}

	public final long since() {
		return this.since;
	}

	/**
	 * The attempt that it decides, {@code null} for most calls.
	 */
	public @Nullable Attempt attempt() {
		return null;
	}

	/**
	 * How many requests need the answer. A busy store asks for what is needed most first.
	 */
	public int need() {
		return 1;
	}

	/** When it was made, in nanoseconds of the JVM's clock. */
	public final long start() {
		return this.start;
	}

	/** The time after which it is not sent. */
	public final long deadline() {
		return this.deadline;
	}

	/** When it was sent, {@link #NOT_SENT} if it was not. */
	public final long sent() {
		return this.sent;
	}

	public final void sent(long now) {
		this.sent = now;
	}

	/**
	 * When the reply came that answers it; without one, the time of this call. The calls
	 * of one reply share a time: under load, reading the clock for each costs more than
	 * deciding it.
	 */
	public final long replied() {
		return (this.replied != NOT_REPLIED) ? this.replied : System.nanoTime();
	}

	public final void replied(long now) {
		this.replied = now;
	}

	/** The next call in the queue of the store. */
	public final @Nullable NodeCall next() {
		return this.next;
	}

	public final void next(@Nullable NodeCall next) {
		this.next = next;
	}

}
