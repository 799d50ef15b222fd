package dev.ratelimit.memory;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SwapTests {

	private static final int THREADS = 8;

	@Test
	void allCellsAreChangedAtOnce() {
		Cell[] cells = cells(1, 2, 3);
		assertThat(swap(cells, states(cells), 4, 5, 6).complete()).isTrue();
		assertThat(values(cells)).containsExactly(4, 5, 6);
	}

	@Test
	void nothingIsChangedWhenOneCellHoldsSomethingElse() {
		for (int other = 0; other < 3; other++) {
			Cell[] cells = cells(1, 2, 3);
			long[][] expected = states(cells);
			// Equal, but not the same.
			cells[other].set(expected[other].clone());
			assertThat(swap(cells, expected, 4, 5, 6).complete()).isFalse();
			assertThat(values(cells)).containsExactly(1, 2, 3);
		}
	}

	@Test
	void whoReadsACellCarriesTheSwapInItToItsEnd() {
		Cell[] cells = cells(1, 2, 3);
		Swap open = swap(cells, states(cells), 4, 5, 6);
		// Its thread was put to sleep after the first cell.
		cells[0].set(open);
		assertThat(cells[0].state()).containsExactly(4);
		assertThat(values(cells)).containsExactly(4, 5, 6);
		assertThat(open.complete()).isTrue();
	}

	@Test
	void whoReadsACellTakesASwapThatFailsOutOfIt() {
		Cell[] cells = cells(1, 2, 3);
		Swap open = swap(cells, states(cells), 4, 5, 6);
		cells[0].set(open);
		cells[2].set(new long[] { 7 });
		assertThat(cells[0].state()).containsExactly(1);
		assertThat(values(cells)).containsExactly(1, 2, 7);
		assertThat(open.complete()).isFalse();
	}

	@Test
	void swapThatMeetsAnotherFinishesItFirst() {
		Cell[] cells = cells(1, 2, 3);
		long[][] expected = states(cells);
		Swap first = swap(cells, expected, 4, 5, 6);
		cells[0].set(first);
		assertThat(swap(cells, expected, 7, 8, 9).complete()).isFalse();
		assertThat(values(cells)).containsExactly(4, 5, 6);
	}

	@Test
	void helperThatComesLateChangesNothing() {
		Cell[] cells = cells(1, 2, 3);
		Swap first = swap(cells, states(cells), 4, 5, 6);
		first.complete();
		swap(cells, states(cells), 7, 8, 9).complete();
		assertThat(first.complete()).isTrue();
		assertThat(values(cells)).containsExactly(7, 8, 9);
	}

	@Test
	void decidedSwapThatIsPutBackIntoACellIsTakenOutAgain() {
		Cell[] cells = cells(1, 2, 3);
		long[][] expected = states(cells);
		cells[1].set(new long[] { 7 });
		Swap failed = swap(cells, expected, 4, 5, 6);
		failed.complete();
		cells[0].set(failed);
		assertThat(cells[0].state()).isSameAs(expected[0]);
	}

	@Test
	void clearCarriesTheSwapInTheCellToItsEndFirst() {
		Cell[] cells = cells(1, 2, 3);
		cells[0].set(swap(cells, states(cells), 4, 5, 6));
		cells[0].clear();
		assertThat(cells[0].state()).isEmpty();
		assertThat(cells[1].state()).containsExactly(5);
	}

	@Test
	void transfersBetweenCellsKeepTheTotal() throws Exception {
		Cell[] cells = cells(1_000, 1_000, 1_000, 1_000, 1_000);
		AtomicLong transfers = new AtomicLong();
		AtomicLong snapshots = new AtomicLong();
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 20_000; i++) {
				if (random.nextInt(8) == 0) {
					// A swap to equal values: if it succeeds, all was there at one time.
					long[][] seen = states(cells);
					long[] values = Arrays.stream(seen).mapToLong((state) -> state[0]).toArray();
					if (swap(cells, seen, values).complete()) {
						snapshots.incrementAndGet();
						assertThat(Arrays.stream(values).sum()).isEqualTo(5_000);
					}
				}
				else if (transfer(cells, random)) {
					transfers.incrementAndGet();
				}
			}
		});
		assertThat(Arrays.stream(values(cells)).sum()).isEqualTo(5_000);
		assertThat(transfers).hasPositiveValue();
		assertThat(snapshots).hasPositiveValue();
	}

	private static boolean transfer(Cell[] cells, SplittableRandom random) {
		int from = random.nextInt(cells.length);
		int to = (from + 1 + random.nextInt(cells.length - 1)) % cells.length;
		Cell[] both = { cells[Math.min(from, to)], cells[Math.max(from, to)] };
		long[][] before = states(both);
		long amount = random.nextLong(-5, 6);
		return swap(both, before, before[0][0] - amount, before[1][0] + amount).complete();
	}

	@Test
	void everySuccessfulSwapCountsOnceInEveryCell() throws Exception {
		Cell[] cells = cells(0, 0, 0, 0);
		AtomicLong[] successes = { new AtomicLong(), new AtomicLong(), new AtomicLong(), new AtomicLong() };
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 10_000; i++) {
				int left = random.nextInt(cells.length);
				Cell[] some = new Cell[cells.length - 1];
				for (int cell = 0; cell < some.length; cell++) {
					some[cell] = cells[(cell < left) ? cell : cell + 1];
				}
				while (true) {
					long[][] before = states(some);
					if (swap(some, before, before[0][0] + 1, before[1][0] + 1, before[2][0] + 1).complete()) {
						break;
					}
				}
				successes[left].incrementAndGet();
			}
		});
		long total = (long) THREADS * 10_000;
		for (int cell = 0; cell < cells.length; cell++) {
			assertThat(cells[cell].state()).containsExactly(total - successes[cell].get());
		}
	}

	@Test
	void swapsAndSingleWritesOfOneCellDoNotLoseEachOther() throws Exception {
		Cell[] cells = cells(0, 0);
		AtomicLong singles = new AtomicLong();
		Threads.inParallel(THREADS, (random) -> {
			for (int i = 0; i < 10_000; i++) {
				boolean single = random.nextBoolean();
				while (true) {
					long[][] before = states(cells);
					boolean done = single ? cells[0].compareAndSet(before[0], new long[] { before[0][0] + 1 })
							: swap(cells, before, before[0][0] + 1, before[1][0] + 1).complete();
					if (done) {
						break;
					}
				}
				singles.addAndGet(single ? 1 : 0);
			}
		});
		long total = (long) THREADS * 10_000;
		assertThat(values(cells)).containsExactly(total, total - singles.get());
	}

	private static Cell[] cells(long... values) {
		return Arrays.stream(values).mapToObj((value) -> {
			Cell cell = new Cell(1);
			cell.set(new long[] { value });
			return cell;
		}).toArray(Cell[]::new);
	}

	private static long[][] states(Cell[] cells) {
		return Arrays.stream(cells).map(Cell::state).toArray(long[][]::new);
	}

	private static long[] values(Cell[] cells) {
		return Arrays.stream(cells).mapToLong((cell) -> cell.state()[0]).toArray();
	}

	private static Swap swap(Cell[] cells, long[][] expected, long... values) {
		return new Swap(cells, expected,
				Arrays.stream(values).mapToObj((value) -> new long[] { value }).toArray(long[][]::new));
	}

}
