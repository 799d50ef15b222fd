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

	private final AtomicLong micros;

	private SettableClock(Instant start) {
		this.micros = new AtomicLong(ChronoUnit.MICROS.between(Instant.EPOCH, start));
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

	long micros() {
		return this.micros.get();
	}

	@Override
	public String toString() {
		return instant().toString();
	}

}
