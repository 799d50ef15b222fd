package dev.ratelimit.benchmarks.load;

import java.util.SplittableRandom;
import java.util.function.IntSupplier;

/** Who asks next, drawn by each thread of a load for itself. */
public interface Callers {

	/**
	 * Draws for one thread.
	 * @param thread its number, from 0
	 * @param threads how many there are
	 */
	IntSupplier drawnBy(int thread, int threads);

	/** All callers in turn, each thread beginning with others. */
	static Callers inTurn(int keys) {
		return (thread, threads) -> {
			int[] next = { (int) ((long) keys * thread / threads) };
			return () -> {
				int key = next[0];
				next[0] = (key + 1 == keys) ? 0 : key + 1;
				return key;
			};
		};
	}

	/** By Zipf's law, from a seed. */
	static Callers zipf(int keys, double skew, long seed) {
		Zipf zipf = new Zipf(keys, skew);
		return (thread, threads) -> {
			SplittableRandom random = new SplittableRandom(seed + thread);
			return () -> zipf.next(random);
		};
	}

}
