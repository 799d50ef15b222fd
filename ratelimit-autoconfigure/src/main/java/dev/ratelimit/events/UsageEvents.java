package dev.ratelimit.events;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Pseudonyms;

/**
 * Tells Kafka of every decision, or counts it as dropped.
 */
public final class UsageEvents implements DecisionListener, AutoCloseable {

	/** The sender may be held up by the client for a moment after its time is over. */
	private static final Duration GRACE = Duration.ofSeconds(2);

	private final LongAdder delivered = new LongAdder();

	private final LongAdder dropped = new LongAdder();

	private final EventBuffer buffer;

	private final EventSender sender;

	private final Thread thread;

	private final Duration flushTimeout;

	UsageEvents(EventOutlet outlet, EventFormat format, EventOptions options) {
		DeliveryLog log = new DeliveryLog(this::dropped, System::nanoTime);
		this.buffer = new EventBuffer(options.bufferSize());
		this.sender = new EventSender(this.buffer, format, outlet, new Counting(log), log);
		this.flushTimeout = options.flushTimeout();
		this.thread = new Thread(this.sender, "ratelimit-events");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	/**
	 * Creates and starts it. The broker need not be there.
	 * @param settings of the application's producers, looked at whenever one is made
	 * @param options where events go and how many may wait
	 * @param pseudonyms what stands in for the values of callers
	 * @param region of this instance
	 * @param instance what it goes by, another with every start
	 */
	public static UsageEvents toKafka(Supplier<Map<String, Object>> settings, EventOptions options,
			Pseudonyms pseudonyms, String region, String instance) {
		return new UsageEvents(new KafkaOutlet(settings, options.topic()),
				new EventFormat(pseudonyms, region, instance), options);
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
	public long delivered() {
		return this.delivered.sum();
	}

	/**
	 * Events that were given up, most for lack of room.
	 */
	public long dropped() {
		return this.dropped.sum();
	}

	/**
	 * Sends what waits, for so long as it may take. What is left after that is dropped,
	 * and so is what is decided from now on.
	 */
	@Override
	public void close() {
		this.sender.endWithin(this.flushTimeout);
		try {
			this.thread.join(this.flushTimeout.plus(GRACE).toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Counts what has come to an end, and makes room for others.
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
