package dev.ratelimit.guard;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Tells calls that their time is up, to about a millisecond.
 *
 * <p>
 * A wheel of stacks, one per millisecond. Adding a call is one compare-and-swap on the
 * stack of its deadline, and nobody removes it: a call that was answered in time is
 * dropped when the wheel comes by. So the usual case, an answer in time, costs one swap
 * and holds a small object for the length of the timeout. The thread sleeps until the
 * next stack that holds anything, and altogether while nothing is under way.
 *
 * <p>
 * What follows from a passed deadline runs on an executor, not on the wheel's thread: it
 * may be the rest of somebody's request, and must not hold up everybody else's deadline.
 */
public final class Deadlines implements AutoCloseable {

	private static final int SPOKES = 512;

	private static final long TICK_NANOS = 1_000_000;

	private static final long AWAKE = Long.MIN_VALUE;

	private static final long NOTHING_TO_DO = Long.MAX_VALUE;

	private final AtomicReferenceArray<@Nullable Timed<?>> spokes = new AtomicReferenceArray<>(SPOKES);

	private final long origin = System.nanoTime();

	private final Executor executor;

	private final Thread thread = new Thread(this::turn, "ratelimit-deadlines");

	/** The last tick whose spoke was emptied. */
	private volatile long swept;

	/** The tick up to which the thread sleeps. */
	private volatile long wake = AWAKE;

	private volatile boolean closed;

	/**
	 * Starts the wheel.
	 * @param executor where calls go on whose time is up
	 */
	public Deadlines(Executor executor) {
		this.executor = executor;
		this.thread.setDaemon(true);
		this.thread.start();
	}

	@Override
	public void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
	}

	void add(Timed<?> call, Duration timeout) {
		// Rounded up: never before its time.
		call.due = (System.nanoTime() - this.origin + timeout.toNanos() + TICK_NANOS - 1) / TICK_NANOS;
		push(call);
		if (call.due <= this.swept) {
			// The wheel came by before the call was on it.
			expire(call);
		}
		else if (call.due < this.wake) {
			LockSupport.unpark(this.thread);
		}
	}

	private void push(Timed<?> call) {
		int spoke = spoke(call.due);
		Timed<?> head;
		do {
			head = this.spokes.get(spoke);
			call.next = head;
		}
		while (!this.spokes.compareAndSet(spoke, head, call));
	}

	private void turn() {
		while (!this.closed) {
			long now = now();
			// After a long sleep every spoke is due once, not once for each lost turn.
			for (long tick = Math.max(this.swept + 1, now - SPOKES + 1); tick <= now; tick++) {
				this.swept = tick;
				sweep(tick, now);
			}
			sleep(now);
		}
	}

	private void sweep(long tick, long now) {
		Timed<?> call = this.spokes.getAndSet(spoke(tick), null);
		while (call != null) {
			Timed<?> next = call.next;
			call.next = null;
			if (!call.isDone()) {
				if (call.due <= now) {
					expire(call);
				}
				else {
					push(call);
				}
			}
			call = next;
		}
	}

	private void sleep(long now) {
		long next = next(now);
		this.wake = next;
		// Looked at again: a call that came before the line above has not woken us.
		if (next(now) == next) {
			if (next == NOTHING_TO_DO) {
				LockSupport.park(this);
			}
			else {
				LockSupport.parkNanos(this, next * TICK_NANOS - (System.nanoTime() - this.origin));
			}
		}
		this.wake = AWAKE;
	}

	/** The next tick whose spoke holds anything. */
	private long next(long now) {
		for (long tick = now + 1; tick <= now + SPOKES; tick++) {
			if (this.spokes.get(spoke(tick)) != null) {
				return tick;
			}
		}
		return NOTHING_TO_DO;
	}

	private void expire(Timed<?> call) {
		try {
			this.executor.execute(call);
		}
		catch (RejectedExecutionException ex) {
			call.run();
		}
	}

	private long now() {
		return (System.nanoTime() - this.origin) / TICK_NANOS;
	}

	private static int spoke(long tick) {
		return (int) (tick & (SPOKES - 1));
	}

}
