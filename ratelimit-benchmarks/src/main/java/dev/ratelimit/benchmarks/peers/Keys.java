package dev.ratelimit.benchmarks.peers;

import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Whose permits are asked for, and whether Redis has their counters.
 */
enum Keys {

	/**
	 * Callers that are known: their counters were written before and do not expire during
	 * the measurement.
	 */
	EXISTING(100_000, "100,000 existing"),

	/**
	 * Callers that come back after their counters have expired, so that every check
	 * writes a new key. Redis keeps a new counter for up to a second; asked one after the
	 * other, so many callers come back later than that at any rate that one Redis
	 * reaches.
	 */
	LAPSED(400_000, "400,000 lapsed"),

	/** A few that are all busy. */
	HUNDRED(100, "100 keys"),

	HOT(1, "one hot key");

	private final int count;

	private final String text;

	Keys(int count, String text) {
		this.count = count;
		this.text = text;
	}

	int count() {
		return this.count;
	}

	/**
	 * Whether a key is so busy that its limit has to be out of reach for all to pass.
	 */
	boolean busy() {
		return this == HUNDRED || this == HOT;
	}

	/**
	 * Which key is next, for a loop that nobody shares its numbers with.
	 * @param asked how many checks came before
	 */
	int next(long asked, SplittableRandom random) {
		return switch (this) {
			case LAPSED -> (int) (asked % this.count);
			case HOT -> 0;
			case EXISTING, HUNDRED -> random.nextInt(this.count);
		};
	}

	String id() {
		return name().toLowerCase(Locale.ROOT);
	}

	/** Names as long as those of real callers. */
	String[] names(String prefix) {
		return IntStream.range(0, this.count).mapToObj((i) -> prefix + (1_000_000_000 + i)).toArray(String[]::new);
	}

	@Override
	public String toString() {
		return this.text;
	}

}
