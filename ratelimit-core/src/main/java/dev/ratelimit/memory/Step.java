package dev.ratelimit.memory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Reading;

/**
 * One attempt to change the cells of a request: the states before and after.
 */
final class Step {

	private final List<Counter> counters;

	private final Cell[] cells;

	private final long now;

	private final long[][] before;

	private final long[][] after;

	/**
	 * Cells to write. A state that was only settled is not written: settling it again
	 * later gives the same result.
	 */
	private final boolean[] changed;

	Step(List<Counter> counters, Cell[] cells, long now) {
		this.counters = counters;
		this.cells = cells;
		this.now = now;
		this.before = new long[cells.length][];
		this.after = new long[cells.length][];
		this.changed = new boolean[cells.length];
		for (int i = 0; i < cells.length; i++) {
			CounterSpec spec = counters.get(i).spec();
			this.before[i] = cells[i].state();
			this.after[i] = spec.formula().settle(this.before[i], spec.paces(), now);
			this.changed[i] = spec.formula().outruns(this.before[i], spec.paces(), now);
		}
	}

	long available() {
		long available = Long.MAX_VALUE;
		for (int i = 0; i < this.cells.length; i++) {
			CounterSpec spec = this.counters.get(i).spec();
			available = Math.min(available, spec.formula().available(this.after[i], spec.paces(), this.now));
		}
		return available;
	}

	void take(long permits) {
		for (int i = 0; i < this.cells.length && permits > 0; i++) {
			CounterSpec spec = this.counters.get(i).spec();
			this.after[i] = spec.formula().take(this.after[i], spec.paces(), this.now, permits);
			this.changed[i] = true;
		}
	}

	/**
	 * Gives permits back to one counter.
	 * @return how many of them
	 */
	long giveBack(int i, long permits, long since) {
		CounterSpec spec = this.counters.get(i).spec();
		long returned = spec.formula().returnable(this.after[i], spec.paces(), this.now, since, permits);
		this.after[i] = spec.formula().giveBack(this.after[i], spec.paces(), this.now, since, permits);
		this.changed[i] = true;
		return returned;
	}

	/**
	 * Charges one counter without a check.
	 * @return how many of the permits
	 */
	long charge(int i, long permits) {
		CounterSpec spec = this.counters.get(i).spec();
		long charged = spec.formula().chargeable(this.after[i], spec.paces(), this.now, permits);
		this.after[i] = spec.formula().charge(this.after[i], spec.paces(), this.now, permits);
		this.changed[i] = true;
		return charged;
	}

	/**
	 * Stores the new states.
	 * @return {@code false} if a cell has changed since this step read it; nothing is
	 * stored then
	 */
	boolean commit() {
		if (this.cells.length == 1) {
			return !this.changed[0] || this.cells[0].compareAndSet(this.before[0], this.after[0]);
		}
		int[] order = IntStream.range(0, this.cells.length)
			.filter((i) -> this.changed[i])
			.boxed()
			.sorted(Comparator.comparingLong((i) -> this.cells[i].order))
			.mapToInt(Integer::intValue)
			.toArray();
		Cell[] cells = new Cell[order.length];
		long[][] expected = new long[order.length][];
		long[][] updated = new long[order.length][];
		for (int i = 0; i < order.length; i++) {
			cells[i] = this.cells[order[i]];
			expected[i] = this.before[order[i]];
			updated[i] = this.after[order[i]];
		}
		return order.length == 0 || new Swap(cells, expected, updated).complete();
	}

	List<Reading> readings() {
		List<Reading> readings = new ArrayList<>(this.cells.length);
		for (int i = 0; i < this.cells.length; i++) {
			readings.add(new Reading(this.counters.get(i), this.after[i], this.now));
		}
		return readings;
	}

}
