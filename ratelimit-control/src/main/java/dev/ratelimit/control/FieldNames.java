package dev.ratelimit.control;

import java.util.Locale;

/**
 * Compares names of fields as Boot compares names of properties.
 */
public final class FieldNames {

	private FieldNames() {
	}

	/**
	 * The same text for all spellings of a name.
	 */
	public static String uniform(String name) {
		return name.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
	}

}
