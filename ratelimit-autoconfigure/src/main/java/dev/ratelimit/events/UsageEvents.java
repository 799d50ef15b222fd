package dev.ratelimit.events;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;
import dev.ratelimit.background.Loop;

/**
 * Sends an event for every decision, or counts the event as dropped.
 */
final class UsageEvents implements DecisionListener, AutoCloseable {

	/** The sender may be held up by the client for a moment after its time is over. */
	private static final Duration GRACE = Duration.ofSeconds(2);

	private final LongAdder delivered = new LongAdder();

	private final LongAdder dropped = new LongAdder();

	private final EventBuffer buffer;

	private final EventSender sender;

	private final Loop loop;

	private final Duration flushTimeout;

	/**
	 * Creates and starts it. The broker need not be there.
	 */
	UsageEvents(EventOutlet outlet, EventFormat format, EventOptions options) {
		DeliveryLog log = new DeliveryLog(this::dropped, System::nanoTime);
		this.buffer = new EventBuffer(options.bufferSize());
		this.sender = new EventSender(this.buffer, format, outlet, new Counting(log), log);
		this.flushTimeout = options.flushTimeout();
		this.loop = new Loop("ratelimit-events", this.sender::turn, this.sender::finish);
		this.loop.start();
	}

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		if (!this.buffer.add(UsageEvent.of(System.currentTimeMillis(), request, decision))) {
			this.dropped.increment();
		}
	}

	/**
	 * Events that the broker has confirmed.
	 */
	long delivered() {
		return this.delivered.sum();
	}

	/**
	 * Events that were given up, most for lack of room.
	 */
	long dropped() {
		return this.dropped.sum();
	}

	/**
	 * Sends waiting events for at most the flush timeout. Events that are left then, and
	 * those of later decisions, are dropped.
	 */
	@Override
	public void close() {
		this.sender.endWithin(this.flushTimeout);
		this.loop.end(this.flushTimeout.plus(GRACE));
	}

	/**
	 * Counts events that are delivered or lost, and makes room for others.
	 */
	private final class Counting implements EventOutlet.Fate {

		private final DeliveryLog log;

		Counting(DeliveryLog log) {
			this.log = log;
		}

		@Override
		public void delivered() {
			UsageEvents.this.delivered.increment();
			UsageEvents.this.buffer.ended();
		}

		@Override
		public void lost(Exception cause) {
			this.log.trouble(cause);
			UsageEvents.this.dropped.increment();
			UsageEvents.this.buffer.ended();
		}

		@Override
		public void delayed(Exception cause) {
			this.log.trouble(cause);
		}

	}

}
