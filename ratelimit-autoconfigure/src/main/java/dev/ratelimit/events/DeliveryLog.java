package dev.ratelimit.events;

import java.time.Duration;
import java.util.function.LongSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs when events begin to be dropped and when that is over, once each. Called by the
 * thread that sends.
 */
final class DeliveryLog {

	private static final Logger logger = LoggerFactory.getLogger(UsageEvents.class);

	private static final long QUIET_NANOS = Duration.ofSeconds(10).toNanos();

	private final LongSupplier dropped;

	private final LongSupplier nanos;

	private volatile String reason = "more of them than can be sent";

	private boolean dropping;

	private long before;

	private long seen;

	private long since;

	DeliveryLog(LongSupplier dropped, LongSupplier nanos) {
		this.dropped = dropped;
		this.nanos = nanos;
	}

	/**
	 * Sets why events are not delivered at the moment. For any thread.
	 */
	void trouble(Exception cause) {
		this.reason = String.valueOf(cause.getMessage());
	}

	/**
	 * Logs if events began to be dropped, or no longer are, since the last call.
	 */
	void report() {
		long now = this.nanos.getAsLong();
		long dropped = this.dropped.getAsLong();
		if (dropped > this.seen) {
			if (!this.dropping) {
				this.dropping = true;
				this.before = this.seen;
				logger.warn("Usage events are dropped ({}); decisions are not affected", this.reason);
			}
			this.seen = dropped;
			this.since = now;
		}
		else if (this.dropping && now - this.since > QUIET_NANOS) {
			this.dropping = false;
			this.reason = "more of them than can be sent";
			logger.info("No usage event was dropped for {} s; {} were before that",
					Duration.ofNanos(QUIET_NANOS).toSeconds(), dropped - this.before);
		}
	}

}
