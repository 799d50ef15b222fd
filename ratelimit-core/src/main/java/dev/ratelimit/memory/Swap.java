package dev.ratelimit.memory;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Changes several cells as one step, without a lock: a compare-and-swap over many words.
 *
 * <p>
 * The swap first puts itself into each cell in place of the expected state. It succeeds
 * if all cells held their expected states. It then replaces itself in each cell by the
 * new state or, if it failed, by the expected state. A thread that finds a swap in a cell
 * completes it, so no thread ever waits for a suspended one. Every state is a new array,
 * so a cell never holds an earlier array again after a decided change. A late helper can
 * therefore at worst put a decided swap back into a cell, and the next reader removes it.
 * (Harris, Fraser and Pratt, "A practical multi-word compare-and-swap operation", without
 * their descriptor for the conditional step, which is needed only for values that recur.)
 */
final class Swap {

	private enum Status {

		OPEN, DONE, FAILED

	}

	private final Cell[] cells;

	private final long[][] expected;

	private final long[][] updated;

	private final AtomicReference<Status> status = new AtomicReference<>(Status.OPEN);

	/**
	 * Creates a swap over cells, in ascending order of {@link Cell#order}.
	 */
	Swap(Cell[] cells, long[][] expected, long[][] updated) {
		this.cells = cells;
		this.expected = expected;
		this.updated = updated;
	}

	/**
	 * Completes the swap.
	 * @return whether all cells held their expected states and were changed
	 */
	boolean complete() {
		for (int i = 0; i < this.cells.length && this.status.get() == Status.OPEN; i++) {
			if (!enter(this.cells[i], this.expected[i])) {
				this.status.compareAndSet(Status.OPEN, Status.FAILED);
			}
		}
		this.status.compareAndSet(Status.OPEN, Status.DONE);
		boolean done = this.status.get() == Status.DONE;
		for (int i = 0; i < this.cells.length; i++) {
			this.cells[i].compareAndSet(this, done ? this.updated[i] : this.expected[i]);
		}
		return done;
	}

	private boolean enter(Cell cell, long[] state) {
		while (true) {
			Object content = cell.get();
			if (content == this) {
				return true;
			}
			if (content instanceof Swap other) {
				other.complete();
			}
			else if (content != state) {
				return false;
			}
			else if (cell.compareAndSet(state, this)) {
				return true;
			}
		}
	}

}
