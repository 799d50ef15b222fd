package dev.ratelimit.events;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;

/**
 * Events on their way from the threads that decide to the one that sends. A ring without
 * locks and allocation, unlike {@code Handoff}: every decision adds an event, by one
 * compare-and-swap.
 *
 * <p>
 * The bound includes events that were taken and wait for the broker. An event ends only
 * after it was taken, so the place of a new one is always free.
 */
final class EventBuffer {

	private static final long CLOSED = Long.MAX_VALUE;

	private final AtomicReferenceArray<@Nullable UsageEvent> ring;

	/** Events that were added. */
	private final AtomicLong added = new AtomicLong();

	/** Events that were delivered or lost. */
	private final AtomicLong ended = new AtomicLong();

	/** Events that were taken; used only by the thread that takes them. */
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
	 * An event that was taken was delivered or lost, which makes room for another.
	 */
	void ended() {
		this.ended.incrementAndGet();
	}

	/**
	 * Refuses all events from now on. Those that were added before can still be taken.
	 */
	void close() {
		long added = this.added.getAndSet(CLOSED);
		if (added != CLOSED) {
			this.last = added;
		}
	}

	/**
	 * Whether it is closed and all events were taken. For the thread that takes them.
	 */
	boolean exhausted() {
		return this.taken == this.last;
	}

	private int place(long number) {
		return (int) (number % this.ring.length());
	}

}
