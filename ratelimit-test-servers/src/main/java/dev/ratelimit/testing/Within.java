package dev.ratelimit.testing;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for what is promised within a time, of which the pauses of the machine are no
 * part. What is not a promise waits by Awaitility, for as long as a busy machine may
 * take.
 */
public final class Within {

	private static final long POLL = TimeUnit.MILLISECONDS.toNanos(5);

	private final Duration time;

	private Within(Duration time) {
		this.time = time;
	}

	public static Within seconds(long seconds) {
		return of(Duration.ofSeconds(seconds));
	}

	public static Within of(Duration time) {
		return new Within(time);
	}

	/**
	 * Returns when the condition holds.
	 * @return how long that took, without pauses
	 * @throws AssertionError if it did not in time
	 */
	public Duration until(Callable<Boolean> condition) {
		long start = Pauses.now();
		while (!holds(condition)) {
			if (Pauses.without(start).compareTo(this.time) > 0) {
				throw new AssertionError(
						"Not within %s, pauses of %s left out".formatted(this.time, Pauses.since(start)));
			}
			LockSupport.parkNanos(POLL);
		}
		return Pauses.without(start);
	}

	private static boolean holds(Callable<Boolean> condition) {
		try {
			return condition.call();
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
