package dev.ratelimit.guard;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Timer;

/**
 * Ends calls at their deadlines, to about a millisecond.
 *
 * <p>
 * A wheel of stacks, one per millisecond. Adding a call is one compare-and-swap on the
 * stack of its deadline. A call is not removed when it is answered but dropped when the
 * wheel reaches its stack. So the usual case, an answer in time, costs one swap and holds
 * a small object for the length of the timeout. The thread sleeps until the next stack
 * that is not empty, and altogether while no call is under way.
 *
 * <p>
 * The consequences of a passed deadline run on an executor, not on the wheel's thread:
 * they may be the rest of a request, which must not delay the deadlines of others.
 */
public final class Deadlines implements Timer, AutoCloseable {

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
	 * @param executor runs the consequences of passed deadlines
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

	@Override
	public void after(Duration delay, Runnable task) {
		add(task, delay);
	}

	/**
	 * Runs a call at its deadline.
	 * @return its place on the wheel
	 */
	Entry add(Runnable call, Duration timeout) {
		return add(call, System.nanoTime() + timeout.toNanos());
	}

	/**
	 * Runs a call at its deadline.
	 * @param deadline by {@link System#nanoTime()}, which may have passed
	 * @return its place on the wheel
	 */
	Entry add(Runnable call, long deadline) {
		// Rounded up: never before the deadline.
		long due = (deadline - this.origin + TICK_NANOS - 1) / TICK_NANOS;
		Entry entry = new Entry(call, due);
		push(entry);
		if (due <= this.swept) {
			// The wheel passed this spoke before the call was on it.
			expire(entry);
		}
		else if (due < this.wake) {
			LockSupport.unpark(this.thread);
		}
		return entry;
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
			// After a long sleep every spoke is due once, not once for each missed turn.
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
		// Read again: a call added before the line above has not woken this thread.
		if (next(now) >= next) {
			if (next == NOTHING_TO_DO) {
				LockSupport.park(this);
			}
			else {
				LockSupport.parkNanos(this, next * TICK_NANOS - (System.nanoTime() - this.origin));
			}
		}
		this.wake = AWAKE;
	}

	/**
	 * The next tick at which a call waits. Under load nearly all calls are answered long
	 * before: waking up for these would be a thousand times a second.
	 */
	private long next(long now) {
		for (long tick = now + 1; tick <= now + SPOKES; tick++) {
			for (Entry entry = this.spokes.get(spoke(tick)); entry != null; entry = entry.next) {
				if (entry.call != null) {
					return tick;
				}
			}
		}
		return NOTHING_TO_DO;
	}

	private void expire(Entry entry) {
		Runnable call = entry.call;
		if (call == null) {
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
	 * A call's place on the wheel. It is small, and drops its reference to the call when
	 * that is answered: answered calls would otherwise be held until their deadlines.
	 */
	static final class Entry {

		private final long due;

		private @Nullable Entry next;

		private @Nullable Runnable call;

		private Entry(Runnable call, long due) {
			this.call = call;
			this.due = due;
		}

		/** The call is answered: the wheel lets go of it. */
		void cancel() {
			this.call = null;
		}

	}

}
