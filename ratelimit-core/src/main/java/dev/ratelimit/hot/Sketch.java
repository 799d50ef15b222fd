package dev.ratelimit.hot;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Counts hashes in a table of fixed size: a count-min sketch whose rows are interleaved,
 * so that the cells of a hash lie in one block of 128 bytes and a count costs one or two
 * cache misses instead of four. Two hashes that share a cell in every row are counted as
 * one, so a count can be too high, by about one in 8,192 of all counts. Two threads that
 * count in a cell at the same moment may count once, so a count can also be a little too
 * low.
 */
final class Sketch {

	private static final int ROWS = 4;

	/** Cells of a row within a block; three bits of a hash choose one. */
	private static final int CHOICES = 8;

	private static final int BLOCKS = 1_024;

	private static final VarHandle CELLS = MethodHandles.arrayElementVarHandle(int[].class);

	private final int[] cells;

	private final int mask;

	Sketch() {
		this(BLOCKS);
	}

	/**
	 * Creates a sketch of another size.
	 * @param blocks a power of two
	 */
	Sketch(int blocks) {
		this.cells = new int[ROWS * CHOICES * blocks];
		this.mask = blocks - 1;
	}

	/**
	 * Counts a hash.
	 * @return how often it was counted
	 */
	int add(int hash) {
		long mixed = mix(hash);
		int least = Integer.MAX_VALUE;
		for (int row = 0; row < ROWS; row++) {
			int cell = cell(mixed, row);
			int count = (int) CELLS.getOpaque(this.cells, cell) + 1;
			CELLS.setOpaque(this.cells, cell, count);
			least = Math.min(least, count);
		}
		return least;
	}

	int count(int hash) {
		long mixed = mix(hash);
		int least = Integer.MAX_VALUE;
		for (int row = 0; row < ROWS; row++) {
			least = Math.min(least, (int) CELLS.getOpaque(this.cells, cell(mixed, row)));
		}
		return least;
	}

	private int cell(long mixed, int row) {
		int block = (int) (mixed >>> 32) & this.mask;
		int choice = (int) (mixed >>> (3 * row)) & (CHOICES - 1);
		return (block * ROWS + row) * CHOICES + choice;
	}

	void clear() {
		Arrays.fill(this.cells, 0);
	}

	private static long mix(int hash) {
		long mixed = hash * 0x9E3779B97F4A7C15L;
		mixed ^= mixed >>> 32;
		mixed *= 0xD6E8FEB86659FD93L;
		return mixed ^ (mixed >>> 32);
	}

}
