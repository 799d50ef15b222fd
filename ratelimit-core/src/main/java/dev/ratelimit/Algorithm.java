package dev.ratelimit;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Algorithm of a counter. {@code docs/algorithms.md} states and proves the guarantees.
 */
public enum Algorithm implements EnumText {

	/** One theoretical arrival time per quota: the smallest state, exact at any time. */
	GCRA,

	/** Counts tokens; decides exactly like GCRA. */
	TOKEN_BUCKET,

	/**
	 * The count of this window plus the previous window's count, weighted by the part of
	 * that window that is still within one window length of now.
	 */
	SLIDING_WINDOW_COUNTER,

	/** One entry per admitted request: no window of any position exceeds the permits. */
	SLIDING_WINDOW_LOG,

	/**
	 * One count per window, aligned to the epoch: admits up to twice the permits around
	 * the edge of two windows.
	 */
	FIXED_WINDOW;

	/**
	 * Whether a quota may name a burst that differs from its permits.
	 */
	public boolean hasBurst() {
		return this == GCRA || this == TOKEN_BUCKET;
	}

	public static Algorithm parse(String text) {
		return Arrays.stream(values())
			.filter((algorithm) -> algorithm.text().equals(text))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("unknown algorithm '" + text + "', use one of: "
					+ Arrays.stream(values()).map(Algorithm::text).collect(Collectors.joining(", "))));
	}

}
