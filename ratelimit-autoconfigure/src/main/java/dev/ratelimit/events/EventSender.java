package dev.ratelimit.events;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Takes events out of the buffer and hands them to the outlet, on a thread of its own.
 * Nobody wakes it, as that would be a system call on a thread that decides: it looks
 * every few milliseconds. One that is not taken stays in hand; meanwhile the buffer
 * fills, and what finds no room is dropped.
 */
final class EventSender implements Runnable {

	private static final long IDLE_NANOS = Duration.ofMillis(10).toNanos();

	private static final long RETRY_NANOS = Duration.ofMillis(100).toNanos();

	private static final int TURN = 1_000;

	private final EventBuffer buffer;

	private final EventFormat format;

	private final EventOutlet outlet;

	private final EventOutlet.Fate fate;

	private final DeliveryLog log;

	/** Not taken yet. */
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
	 * Closes the buffer and ends after what is in it was delivered, but no later than
	 * this.
	 */
	void endWithin(Duration time) {
		// Before the buffer is closed, which may be all that is waited for.
		this.deadline = System.nanoTime() + time.toNanos();
		this.buffer.close();
	}

	@Override
	public void run() {
		while (left() > 0 && (this.inHand != null || !this.buffer.exhausted())) {
			pause(turn());
			this.log.look();
		}
		this.outlet.close(Duration.ofNanos(Math.max(0, left())));
		dropRest();
		this.log.look();
	}

	/**
	 * Hands over what there is, but not for ever: the log wants to be looked after too.
	 * @return how long to wait before the next turn
	 */
	private long turn() {
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

	/** The time is over. An event may just be being added: there is no more than that. */
	private void dropRest() {
		TimeOverException over = new TimeOverException();
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

	private void pause(long nanos) {
		if (nanos > 0 && !(this.buffer.exhausted() && this.inHand == null)) {
			LockSupport.parkNanos(this, Math.min(nanos, Math.max(1, left())));
		}
	}

	/**
	 * Why events were dropped at the end.
	 */
	private static final class TimeOverException extends Exception {

		TimeOverException() {
			super("the application has ended", null, false, false);
		}

	}

}
