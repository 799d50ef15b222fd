package dev.ratelimit.events;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Hands events from the buffer to the outlet, on a background thread. It polls every 10
 * ms: waking it would be a system call on a thread that decides. It keeps an event that
 * the outlet refuses; meanwhile the buffer fills, and events without room are dropped.
 */
final class EventSender {

	private static final long IDLE_NANOS = Duration.ofMillis(10).toNanos();

	private static final long RETRY_NANOS = Duration.ofMillis(100).toNanos();

	private static final int TURN = 1_000;

	private final EventBuffer buffer;

	private final EventFormat format;

	private final EventOutlet outlet;

	private final EventOutlet.Fate fate;

	private final DeliveryLog log;

	/** Refused by the outlet so far. */
	private @Nullable EventMessage inHand;

	/** Until when events are handed over, by {@link System#nanoTime()}. */
	private volatile @Nullable Long deadline;

	EventSender(EventBuffer buffer, EventFormat format, EventOutlet outlet, EventOutlet.Fate fate, DeliveryLog log) {
		this.buffer = buffer;
		this.format = format;
		this.outlet = outlet;
		this.fate = fate;
		this.log = log;
	}

	/**
	 * Closes the buffer. The sender ends when all events in it are delivered, or after
	 * this time.
	 */
	void endWithin(Duration time) {
		// Before the buffer is closed: an empty buffer ends the sender at once.
		this.deadline = System.nanoTime() + time.toNanos();
		this.buffer.close();
	}

	Duration turn() {
		long pause = handOver();
		this.log.report();
		return Duration.ofNanos(pause);
	}

	/** Hands over the rest until the deadline, and then drops what is left. */
	void finish() {
		while (left() > 0 && (this.inHand != null || !this.buffer.exhausted())) {
			LockSupport.parkNanos(this, Math.min(handOver(), Math.max(1, left())));
		}
		this.outlet.close(Duration.ofNanos(Math.max(0, left())));
		dropRest();
		this.log.report();
	}

	/**
	 * Hands over at most {@value #TURN} events, so that the log has its turn too.
	 * @return how many nanoseconds to wait before the next turn
	 */
	private long handOver() {
		for (int i = 0; i < TURN && left() > 0; i++) {
			EventMessage message = (this.inHand != null) ? this.inHand : next();
			if (message == null) {
				return IDLE_NANOS;
			}
			this.inHand = this.outlet.take(message, this.fate) ? null : message;
			if (this.inHand != null) {
				return RETRY_NANOS;
			}
		}
		return 0;
	}

	private @Nullable EventMessage next() {
		UsageEvent event = this.buffer.take();
		while (event != null) {
			try {
				return this.format.write(event);
			}
			catch (RuntimeException ex) {
				this.fate.lost(ex);
				event = this.buffer.take();
			}
		}
		return null;
	}

	/**
	 * After the deadline. Waits only for events that other threads are adding right now.
	 */
	private void dropRest() {
		Exception over = new IllegalStateException("the application has ended");
		if (this.inHand != null) {
			this.fate.lost(over);
			this.inHand = null;
		}
		while (!this.buffer.exhausted()) {
			if (this.buffer.take() != null) {
				this.fate.lost(over);
			}
			else {
				Thread.onSpinWait();
			}
		}
	}

	private long left() {
		Long deadline = this.deadline;
		return (deadline != null) ? deadline - System.nanoTime() : Long.MAX_VALUE;
	}

}
