package dev.ratelimit;

import java.time.Duration;
import java.util.regex.Pattern;

/**
 * Retries of an admitted request are admitted again without being counted: those with the
 * same id, of the same caller.
 *
 * @param header name of the header with the id of a request; read only from trusted
 * proxies
 * @param ttl time after the admission within which a retry is not counted
 * @param maxReplays retries that are not counted; the next one is decided, counted and
 * recorded anew
 */
public record Idempotency(String header, Duration ttl, int maxReplays) {

	/** Longest id, in characters. */
	public static final int LONGEST_ID = 128;

	private static final Pattern HEADER = Pattern.compile("[0-9A-Za-z!#$%&'*+.^_`|~-]{1,100}");

	private static final Duration SHORTEST_TTL = Duration.ofSeconds(1);

	private static final Duration LONGEST_TTL = Duration.ofDays(1);

	private static final int MOST_REPLAYS = 100;

	public Idempotency {
		if (!HEADER.matcher(header).matches()) {
			throw new IllegalArgumentException("header must be the name of a header but was '" + header + "'");
		}
		if (ttl.compareTo(SHORTEST_TTL) < 0 || ttl.compareTo(LONGEST_TTL) > 0) {
			throw new IllegalArgumentException("ttl must be 1s to 1d but was " + ttl);
		}
		if (maxReplays < 1 || maxReplays > MOST_REPLAYS) {
			throw new IllegalArgumentException("max-replays must be 1 to " + MOST_REPLAYS + " but was " + maxReplays);
		}
	}

	/**
	 * Whether a text can be the id of a request: 1 to 128 printable ASCII characters.
	 */
	public static boolean isId(String text) {
		return !text.isEmpty() && text.length() <= LONGEST_ID && text.chars().allMatch((c) -> c > ' ' && c < 127);
	}

}
