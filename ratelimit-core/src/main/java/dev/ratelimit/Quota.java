package dev.ratelimit;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Permits per window, with a burst: {@code 100/s burst 200}.
 *
 * <p>
 * The bounds keep every intermediate number of every algorithm an exact integer below
 * 2^53, in Java and in Lua: permits, burst and cost multiply to at most 8.1e15, and the
 * time an empty counter takes to fill stays below 50 years.
 *
 * @param permits permits per window
 * @param window length of the window in whole seconds, at most 31 days
 * @param burst permits that can be taken at once; by default as many as {@code permits}
 */
public record Quota(long permits, Duration window, long burst) {

	/** Largest number of permits, burst and cost. */
	public static final long MAX_PERMITS = 90_000_000;

	public static final Duration MAX_WINDOW = Duration.ofDays(31);

	private static final Duration MAX_FILL_TIME = Duration.ofDays(50 * 365);

	private static final Pattern TEXT = Pattern
		.compile("\\s*(\\d{1,18})\\s*/\\s*(\\d{0,9})([smhd])" + "(?:\\s+burst\\s+(\\d{1,18}))?\\s*");

	public Quota {
		require(permits >= 1, "permits must be at least 1 but was " + permits);
		require(permits <= MAX_PERMITS, "permits must be at most " + MAX_PERMITS + " but was " + permits);
		require(burst >= 1, "burst must be at least 1 but was " + burst);
		require(burst <= MAX_PERMITS, "burst must be at most " + MAX_PERMITS + " but was " + burst);
		require(window.compareTo(Duration.ofSeconds(1)) >= 0 && window.getNano() == 0,
				"window must be one or more whole seconds but was " + window);
		require(window.compareTo(MAX_WINDOW) <= 0, "window must be at most 31d but was " + text(window));
		require((double) burst / permits * window.toSeconds() <= MAX_FILL_TIME.toSeconds(),
				"burst " + burst + " would take more than 50 years to refill at " + permits + "/" + text(window)
						+ ", use a smaller one");
	}

	public static Quota of(long permits, Duration window) {
		return new Quota(permits, window, permits);
	}

	/**
	 * Reads {@code <permits>/<window>[ burst <permits>]}, the window as {@code s},
	 * {@code m}, {@code h}, {@code d} or {@code 10s}, {@code 15m}, {@code 7d}.
	 */
	public static Quota parse(CharSequence text) {
		Matcher matcher = TEXT.matcher(text);
		if (!matcher.matches()) {
			throw new IllegalArgumentException("'" + text
					+ "' is not a quota, write <permits>/<window>[ burst <permits>], for example 100/s, 5/10s or 100/s burst 200");
		}
		try {
			long permits = Long.parseLong(matcher.group(1));
			long count = matcher.group(2).isEmpty() ? 1 : Long.parseLong(matcher.group(2));
			Duration window = Duration.ofSeconds(count * secondsOf(matcher.group(3).charAt(0)));
			long burst = (matcher.group(4) != null) ? Long.parseLong(matcher.group(4)) : permits;
			return new Quota(permits, window, burst);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException("'" + text + "': " + ex.getMessage(), ex);
		}
	}

	/**
	 * This quota times a factor: at least one permit, and a burst that refills within 50
	 * years.
	 */
	public Quota scaled(double factor) {
		long permits = scaled(this.permits, factor);
		long refillable = (long) ((double) MAX_FILL_TIME.toSeconds() / this.window.toSeconds() * permits);
		return new Quota(permits, this.window, Math.min(refillable, scaled(this.burst, factor)));
	}

	/**
	 * The share of one part of a split counter. The shares of all parts add up to exactly
	 * the quota; the last part has the largest share.
	 * @param part index of the part, from 0
	 * @param parts number of parts, at most {@code permits} and at most {@code burst}
	 */
	public Quota part(int part, int parts) {
		return new Quota(share(this.permits, part, parts), this.window, share(this.burst, part, parts));
	}

	private static long share(long permits, int part, int parts) {
		return permits * (part + 1) / parts - permits * part / parts;
	}

	private static long scaled(long permits, double factor) {
		return Math.max(1, Math.min(MAX_PERMITS, Math.round(permits * factor)));
	}

	/**
	 * The window in the notation of a quota: {@code s}, {@code 10s}, {@code m},
	 * {@code 15m}, …
	 */
	public String windowText() {
		String text = text(this.window);
		return (text.charAt(0) == '1' && text.length() == 2) ? text.substring(1) : text;
	}

	/**
	 * The quota in the notation that {@link #parse} reads.
	 */
	@Override
	public String toString() {
		return this.permits + "/" + windowText() + ((this.burst != this.permits) ? " burst " + this.burst : "");
	}

	/**
	 * A duration in the largest unit that divides it, for example {@code 90s}, {@code 1m}
	 * or {@code 7d}.
	 */
	public static String text(Duration window) {
		long seconds = window.toSeconds();
		for (char unit : new char[] { 'd', 'h', 'm' }) {
			if (seconds > 0 && seconds % secondsOf(unit) == 0) {
				return seconds / secondsOf(unit) + String.valueOf(unit);
			}
		}
		return seconds + "s";
	}

	private static long secondsOf(char unit) {
		return switch (unit) {
			case 's' -> 1;
			case 'm' -> 60;
			case 'h' -> 3_600;
			case 'd' -> 86_400;
			default -> throw new IllegalArgumentException("unknown unit '" + unit + "'");
		};
	}

	private static void require(boolean condition, String message) {
		if (!condition) {
			throw new IllegalArgumentException(message);
		}
	}

}
