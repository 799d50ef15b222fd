package dev.ratelimit.benchmarks.load;

/**
 * A rate limiter that is measured. Keys are numbers from 0; what a limiter needs for
 * them, such as names or requests, is made before the clock runs.
 */
public interface Contender extends AutoCloseable {

	/**
	 * Asks for one permit.
	 * @param key whose
	 * @param answer called once, by this call or later by any thread
	 */
	void check(int key, Answer answer);

	/**
	 * Makes a counter that exists for the whole measurement.
	 */
	default void fill(int key, Answer answer) {
		check(key, answer);
	}

	@Override
	void close();

	/** Takes the outcome of a check. */
	interface Answer {

		void complete(Outcome outcome);

	}

	/** What became of a check. */
	enum Outcome {

		ALLOWED, REFUSED,

		/** An error, or an answer that Redis had no part in although it should have. */
		FAILED;

		public static Outcome of(boolean allowed) {
			return allowed ? ALLOWED : REFUSED;
		}

	}

}
