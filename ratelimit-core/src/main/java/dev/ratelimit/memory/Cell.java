package dev.ratelimit.memory;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The state of one counter: a {@code long[]}, or a {@link Swap} while several cells
 * change together. A cell never holds the same array twice; {@link Swap} relies on that.
 */
final class Cell extends AtomicReference<Object> {

	private static final AtomicLong SEQUENCE = new AtomicLong();

	/**
	 * Swaps enter their cells in this order, so that two swaps never block each other.
	 */
	final long order = SEQUENCE.incrementAndGet();

	/** Time after the last use for which the state matters, in nanoseconds. */
	volatile long lifetime;

	Cell(long lifetime) {
		super(new long[0]);
		this.lifetime = lifetime;
	}

	/**
	 * The current state; completes an unfinished swap first.
	 */
	long[] state() {
		while (true) {
			Object content = get();
			if (content instanceof Swap swap) {
				swap.complete();
			}
			else if (content instanceof long[] state) {
				return state;
			}
		}
	}

	void clear() {
		while (!compareAndSet(state(), new long[0])) {
			Thread.onSpinWait();
		}
	}

}
