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

	private final AtomicReferenceArray<@Nullable Entry> spokes = new AtomicReferenceArray<>(SPOKES);

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
		long due = (System.nanoTime() - this.origin + timeout.toNanos() + TICK_NANOS - 1) / TICK_NANOS;
		Entry entry = new Entry(call, due);
		call.onWheel(entry);
		push(entry);
		if (due <= this.swept) {
			// The wheel came by before the call was on it.
			expire(entry);
		}
		else if (due < this.wake) {
			LockSupport.unpark(this.thread);
		}
	}

	private void push(Entry entry) {
		int spoke = spoke(entry.due);
		Entry head;
		do {
			head = this.spokes.get(spoke);
			entry.next = head;
		}
		while (!this.spokes.compareAndSet(spoke, head, entry));
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
		Entry entry = this.spokes.getAndSet(spoke(tick), null);
		while (entry != null) {
			Entry next = entry.next;
			entry.next = null;
			if (entry.due > now) {
				push(entry);
			}
			else {
				expire(entry);
			}
			entry = next;
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

	private void expire(Entry entry) {
		Timed<?> call = entry.call;
		if (call == null || call.isDone()) {
			return;
		}
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

	/**
	 * A call's place on the wheel. It is small, and lets go of the call when that is
	 * answered: what was answered would otherwise be held until its deadline.
	 */
	static final class Entry {

		private final long due;

		private @Nullable Entry next;

		@Nullable Timed<?> call;

		Entry(Timed<?> call, long due) {
			this.call = call;
			this.due = due;
		}

	}

}
