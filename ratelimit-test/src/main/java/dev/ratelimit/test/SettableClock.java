package dev.ratelimit.test;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that stands still until the test moves it.
 */
public final class SettableClock implements InstantSource {

	private final long start;

	/** Nanoseconds that the clock has gone back by starting over. */
	private final AtomicLong forgotten = new AtomicLong();

	private final AtomicLong micros;

	private SettableClock(Instant start) {
		this.start = ChronoUnit.MICROS.between(Instant.EPOCH, start);
		this.micros = new AtomicLong(this.start);
	}

	/**
	 * A clock that starts at the beginning of a day, and so of every window.
	 */
	public static SettableClock atStartOfDay() {
		return at(Instant.parse("2026-01-01T00:00:00Z"));
	}

	public static SettableClock at(Instant start) {
		return new SettableClock(start);
	}

	/**
	 * Moves the clock. A negative duration sets it back.
	 */
	public SettableClock advance(Duration duration) {
		this.micros.addAndGet(duration.toNanos() / 1_000);
		return this;
	}

	public SettableClock set(Instant time) {
		this.micros.set(ChronoUnit.MICROS.between(Instant.EPOCH, time));
		return this;
	}

	@Override
	public Instant instant() {
		return Instant.EPOCH.plus(this.micros.get(), ChronoUnit.MICROS);
	}

	/**
	 * Goes back to the start. The time by which counters expire stays.
	 */
	void startOver() {
		this.forgotten.addAndGet((this.micros.getAndSet(this.start) - this.start) * 1_000);
	}

	/**
	 * The time by which counters expire, in nanoseconds. It never goes back to the start.
	 */
	long nanos() {
		return this.micros.get() * 1_000 + this.forgotten.get();
	}

	long micros() {
		return this.micros.get();
	}

	@Override
	public String toString() {
		return instant().toString();
	}

}
