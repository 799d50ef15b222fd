package dev.ratelimit.memory;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Where one counter's state is kept. Holds a {@code long[]}, or a {@link Swap} while
 * several cells change together. No array is ever put in twice, {@link Swap} relies on
 * it.
 */
final class Cell extends AtomicReference<Object> {

	private static final AtomicLong SEQUENCE = new AtomicLong();

	/**
	 * Swaps take their cells in this order, so that two of them never chase each other in
	 * a circle.
	 */
	final long order = SEQUENCE.incrementAndGet();

	/** How long the state can matter after the last use, in nanoseconds. */
	volatile long lifetime;

	Cell(long lifetime) {
		super(new long[0]);
		this.lifetime = lifetime;
	}

	/**
	 * The state as of now; a swap that is under way is carried to its end first.
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

	/**
	 * Forgets all that was counted.
	 */
	void clear() {
		while (!compareAndSet(state(), new long[0])) {
			Thread.onSpinWait();
		}
	}

}
