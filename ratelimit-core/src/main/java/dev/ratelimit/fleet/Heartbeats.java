package dev.ratelimit.fleet;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Whether Redis takes this instance's heartbeats: known from the start on and without a
 * request.
 */
public final class Heartbeats {

	/** Six beats, after which other instances take this one as gone. */
	private static final Duration SILENCE = Duration.ofSeconds(3);

	private final LongSupplier nanos;

	private volatile long last;

	/**
	 * Creates one for an instance that has not sent a heartbeat.
	 * @param nanos a monotonic clock
	 */
	public Heartbeats(LongSupplier nanos) {
		this.nanos = nanos;
		this.last = nanos.getAsLong() - SILENCE.toNanos();
	}

	/** Redis has taken a heartbeat. */
	public void taken() {
		this.last = this.nanos.getAsLong();
	}

	/** Whether Redis has not taken one for 3 s, or none since the start. */
	public boolean missing() {
		return this.nanos.getAsLong() - this.last >= SILENCE.toNanos();
	}

}
