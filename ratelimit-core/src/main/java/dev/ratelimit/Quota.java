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
 * @param permits how many permits a window has
 * @param window whole seconds
 * @param burst how many permits can be taken at once; equals the permits unless said
 * otherwise
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
	 * A share of this quota: at least one permit, and no burst that could not be
	 * refilled.
	 */
	public Quota scaled(double factor) {
		long permits = scaled(this.permits, factor);
		long refillable = (long) ((double) MAX_FILL_TIME.toSeconds() / this.window.toSeconds() * permits);
		return new Quota(permits, this.window, Math.min(refillable, scaled(this.burst, factor)));
	}

	/**
	 * What one of several parts has of this quota. The shares of all parts add up to
	 * exactly the quota; those of the last part are the largest.
	 * @param part which one, from 0
	 * @param parts how many there are, at most as many as permits and burst
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
	 * The window as it is written in a quota: {@code s}, {@code 10s}, {@code m},
	 * {@code 15m}, …
	 */
	public String windowText() {
		String text = text(this.window);
		return (text.charAt(0) == '1' && text.length() == 2) ? text.substring(1) : text;
	}

	/**
	 * The quota as it is written; {@link #parse} reads it back.
	 */
	@Override
	public String toString() {
		return this.permits + "/" + windowText() + ((this.burst != this.permits) ? " burst " + this.burst : "");
	}

	/**
	 * A duration with the largest unit that divides it, for example {@code 90s},
	 * {@code 1m} or {@code 7d}.
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
