package dev.ratelimit.benchmarks.peers;

import java.util.Locale;
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
	 * Callers that come back after their counters have expired, which takes 1 ms here:
	 * every check writes a new key.
	 */
	LAPSED(100_000, "100,000 lapsed"),

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
