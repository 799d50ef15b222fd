package dev.ratelimit;

import java.util.regex.Pattern;

/**
 * Makes foreign text safe for a log line, a message or a response.
 */
public final class PrintableText {

	private static final int MAX_LENGTH = 500;

	/**
	 * Characters that end a line or change its direction: they could forge a log line.
	 */
	private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]+");

	private PrintableText() {
	}

	/**
	 * The text on one line, cut after 500 characters.
	 */
	public static String of(String text) {
		return line(text, MAX_LENGTH);
	}

	/**
	 * The text on one line, with an ellipsis if it is cut.
	 */
	public static String of(String text, int maxLength) {
		return line(text, maxLength) + ((text.length() > maxLength) ? "…" : "");
	}

	private static String line(String text, int maxLength) {
		String start = text.substring(0, Math.min(text.length(), maxLength));
		return UNPRINTABLE.matcher(start).replaceAll(" ").strip();
	}

}
