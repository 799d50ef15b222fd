package dev.ratelimit.testing;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The pauses of this machine itself: how late a thread was that has nothing to do but to
 * wake up each millisecond. So late was everything else, and no promise about time can
 * make up for it. Begins to watch when first used.
 *
 * <p>
 * Threads that work are slowed down by others long before one that sleeps is: see
 * {@link Contention}.
 */
public final class Pauses {

	private static final long TICK = TimeUnit.MILLISECONDS.toNanos(1);

	/** What a thread that is not disturbed may be late, by the timers of the kernel. */
	private static final long NOISE = TimeUnit.MILLISECONDS.toNanos(1);

	private static final int MOST = 100_000;

	private static final Deque<Pause> SEEN = new ArrayDeque<>();

	private static final Contention CONTENTION = new Contention();

	static {
		Thread thread = new Thread(Pauses::run, "pauses");
		thread.setDaemon(true);
		thread.start();
	}

	private Pauses() {
	}

	/** Now, by the clock that pauses are noted by. */
	public static long now() {
		return System.nanoTime();
	}

	/** The pauses since then, together. */
	public static Duration since(long start) {
		return between(start, now());
	}

	/** The pauses between two times, together. */
	public static Duration between(long start, long end) {
		long sum = 0;
		synchronized (SEEN) {
			for (Pause pause : SEEN) {
				sum += Math.max(0, Math.min(end, pause.end) - Math.max(start, pause.start));
			}
		}
		return Duration.ofNanos(sum);
	}

	/**
	 * How long something took that began then, less the pauses meanwhile and less most of
	 * the time in which threads of this machine waited for a processor.
	 */
	public static Duration without(long start) {
		long end = now();
		return Duration.ofNanos(end - start).minus(lost(start, end));
	}

	/**
	 * The pauses between two times, or most of the time in which threads of this machine
	 * waited for a processor, if that is more.
	 */
	public static Duration lost(long start, long end) {
		Duration pauses = between(start, end);
		Duration waited = CONTENTION.between(start, end);
		return (pauses.compareTo(waited) > 0) ? pauses : waited;
	}

	private static void run() {
		long due = now() + TICK;
		while (true) {
			LockSupport.parkNanos(due - now());
			long now = now();
			if (now - due > NOISE) {
				note(new Pause(due, now));
			}
			CONTENTION.look(now);
			due = now + TICK;
		}
	}

	private static void note(Pause pause) {
		synchronized (SEEN) {
			if (SEEN.size() == MOST) {
				SEEN.removeFirst();
			}
			SEEN.addLast(pause);
		}
	}

	private record Pause(long start, long end) {
	}

}
