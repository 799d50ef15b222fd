package dev.ratelimit;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How a counter counts. The guarantees are stated and proven in
 * {@code docs/algorithms.md}.
 */
public enum Algorithm {

	/** One theoretical arrival time per quota: the smallest state, no edges, exact. */
	GCRA,

	/** Whole tokens and the time of the last one: the same guarantee as GCRA. */
	TOKEN_BUCKET,

	/**
	 * This window's count plus the previous one's, weighted by how much of it is still in
	 * sight.
	 */
	SLIDING_WINDOW_COUNTER,

	/** One entry per admitted request: never more than the permits in any window. */
	SLIDING_WINDOW_LOG,

	/**
	 * One count per window that is aligned to the epoch: up to twice the permits across
	 * an edge.
	 */
	FIXED_WINDOW;

	/**
	 * Whether a quota may name a burst that differs from its permits.
	 */
	public boolean hasBurst() {
		return this == GCRA || this == TOKEN_BUCKET;
	}

	/**
	 * The name as written in YAML and shown to users, for example {@code token-bucket}.
	 */
	public String text() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	public static Algorithm parse(String text) {
		return Arrays.stream(values())
			.filter((algorithm) -> algorithm.text().equals(text))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("unknown algorithm '" + text + "', use one of: "
					+ Arrays.stream(values()).map(Algorithm::text).collect(Collectors.joining(", "))));
	}

}
