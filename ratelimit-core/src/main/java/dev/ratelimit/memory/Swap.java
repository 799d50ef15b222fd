package dev.ratelimit.memory;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Changes several cells as one step, without a lock: a compare-and-swap over many words.
 *
 * <p>
 * The swap puts itself into each cell in place of the state that it expects there, then
 * decides once whether all were taken, then replaces itself by the new states or, if one
 * cell held something else, by the expected ones. Whoever meets a swap in a cell helps it
 * to its end, so nobody ever waits for a thread that was put to sleep. Because every
 * state is a new array, a cell never goes back to holding an array that it held before a
 * decided change; a helper that comes late can therefore at worst put a decided swap back
 * into a cell, and the next reader takes it out again. (Harris, Fraser and Pratt, "A
 * practical multi-word compare-and-swap operation", without their descriptor for the
 * conditional step, which exists for values that recur.)
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
	 * Creates a swap over cells in ascending order.
	 */
	Swap(Cell[] cells, long[][] expected, long[][] updated) {
		this.cells = cells;
		this.expected = expected;
		this.updated = updated;
	}

	/**
	 * Carries the swap out.
	 * @return whether all cells held what was expected and were changed
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
