package dev.ratelimit.benchmarks.peers;

import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Whose permits are asked for.
 */
enum Keys {

	/** More than any cache of a limiter is meant to hold in its fast part. */
	RANDOM(100_000, "random"),

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
		return this != RANDOM;
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
