package dev.ratelimit.events;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

/**
 * Events on their way from the threads that decide to the one that sends. A ring without
 * locks, since a thread that decides must not be parked: adding is one compare-and-swap.
 *
 * <p>
 * What is bounded is the number of events that have not come to an end, so those count
 * too that were taken out of here and wait for the broker. As an event ends only after it
 * was taken, the place of a new one is always free.
 */
final class EventBuffer {

	private static final long CLOSED = Long.MAX_VALUE;

	private final AtomicReferenceArray<@Nullable UsageEvent> ring;

	/** Events that were added. */
	private final AtomicLong added = new AtomicLong();

	/** Events that came to an end. */
	private final AtomicLong ended = new AtomicLong();

	/** Events that were taken; only the one thread that takes them knows. */
	private long taken;

	/** Events that were added before it was closed. */
	private volatile long last = CLOSED;

	EventBuffer(int capacity) {
		this.ring = new AtomicReferenceArray<>(capacity);
	}

	/**
	 * Adds an event, from any thread.
	 * @return whether there was room for it
	 */
	boolean add(UsageEvent event) {
		long added;
		do {
			added = this.added.get();
			if (added - this.ended.get() >= this.ring.length()) {
				return false;
			}
		}
		while (!this.added.compareAndSet(added, added + 1));
		this.ring.setRelease(place(added), event);
		return true;
	}

	/**
	 * Takes the oldest event, by one thread only; {@code null} if there is none yet.
	 */
	@Nullable UsageEvent take() {
		int place = place(this.taken);
		UsageEvent event = this.ring.getAcquire(place);
		if (event != null) {
			this.ring.setRelease(place, null);
			this.taken++;
		}
		return event;
	}

	/**
	 * An event that was taken has come to an end, which makes room for another.
	 */
	void ended() {
		this.ended.incrementAndGet();
	}

	/**
	 * Lets nothing in from now on, and misses nothing that was let in before.
	 */
	void close() {
		long added = this.added.getAndSet(CLOSED);
		if (added != CLOSED) {
			this.last = added;
		}
	}

	/**
	 * Whether it is closed and all was taken, for the thread that takes.
	 */
	boolean exhausted() {
		return this.taken == this.last;
	}

	private int place(long number) {
		return (int) (number % this.ring.length());
	}

}
