package dev.ratelimit.config;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Rules for every setting, whether it is read at start, at a refresh or from a document.
 */
final class FieldRules {

	private static final Pattern NUMBER = Pattern.compile("\\s*[+-]?\\d+\\s*");

	private FieldRules() {
	}

	/**
	 * A name that does not exist, with the nearest that does.
	 */
	static InvalidPolicyException unknown(String field, String problem, @Nullable String nearest, String fix) {
		return new InvalidPolicyException(field, problem,
				((nearest != null) ? "Did you mean '" + nearest + "'? " : "") + fix);
	}

	/**
	 * Whether a text is a duration without its unit. Boot would read milliseconds, but
	 * the author probably meant seconds.
	 */
	static boolean lacksUnit(@Nullable Type type, String text) {
		return type == Duration.class && NUMBER.matcher(text).matches();
	}

	static InvalidPolicyException withoutUnit(String field, String text) {
		String number = text.strip();
		return new InvalidPolicyException(field, "'" + field + "' is '" + number + "', which has no unit.",
				"Set '" + field + "' to a duration such as 10ms, 5s or 10m.");
	}

}
