package dev.ratelimit.actuate;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.admin.AdminProblem;

/**
 * How many entries an answer has at most, where there may be many.
 */
final class PageSize {

	private static final int USUAL = 50;

	private static final int MOST = 1_000;

	private PageSize() {
	}

	/**
	 * Reads the parameter {@code limit}.
	 */
	static int of(@Nullable String text) {
		try {
			int limit = (text != null) ? Integer.parseInt(text) : USUAL;
			if (limit >= 1 && limit <= MOST) {
				return limit;
			}
		}
		catch (NumberFormatException ex) {
			// Told below.
		}
		throw AdminProblem.invalid("limit", "This is not a number of entries", "Use 1 to " + MOST + ".");
	}

}
