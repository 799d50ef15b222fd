package dev.ratelimit.actuate;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.admin.AdminProblem;

/**
 * Checks a value that a call names a caller by. The value is not repeated in an error.
 */
final class CallerValue {

	private CallerValue() {
	}

	/**
	 * A value that counters can be found by.
	 * @throws AdminProblem if it cannot be meant
	 */
	static String counted(Dimension dimension, String value) {
		if (dimension.equals(Dimension.API_KEY) && ApiKeyDigest.is(value)) {
			throw AdminProblem.invalid(dimension.name(), "Requests are counted by the key and not by its digest",
					"Send the key itself.");
		}
		return present(dimension, value);
	}

	/**
	 * A value that a record can be about.
	 * @throws AdminProblem if it cannot be meant
	 */
	static String named(Dimension dimension, String value) {
		requireNoBrokenDigest(dimension, value);
		return present(dimension, value);
	}

	/**
	 * Refuses what looks like a digest of an API key and is none.
	 * @throws AdminProblem that names the dimension
	 */
	static void requireNoBrokenDigest(Dimension dimension, String value) {
		if (ApiKeyDigest.isBroken(dimension, value)) {
			throw AdminProblem.invalid(dimension.name(), "This begins with sha256: but is no digest",
					"Send sha256: and 64 hex digits, or the key itself.");
		}
	}

	private static String present(Dimension dimension, String value) {
		if (value.isEmpty()) {
			throw AdminProblem.invalid(dimension.name(), "The value is empty", "Give it one, or leave it out.");
		}
		if (dimension.equals(Dimension.IP) && IpAddress.parse(value) == null) {
			throw AdminProblem.invalid(dimension.name(), "This is not an IP address",
					"Use one such as 203.0.113.7 or 2001:db8::7.");
		}
		return value;
	}

}
