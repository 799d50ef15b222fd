package dev.ratelimit.actuate;

import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.web.PathReadings;

/**
 * The paths below a prefix, such as those of the endpoint.
 *
 * @param prefix such as {@code /actuator/ratelimit}
 */
public record AdminPaths(String prefix) {

	private static final Set<String> READS = Set.of("GET", "HEAD", "OPTIONS");

	/**
	 * Whether a path is one of them, in any reading of its encoding.
	 * @param path as it was sent
	 */
	public boolean contain(String path) {
		return rest(path) != null;
	}

	/**
	 * The target of a call, such as {@code POST switch}. Only the first name of the path,
	 * because the rest may name a caller.
	 * @param path as it was sent
	 * @return {@code null} if the path is not one of them
	 */
	@Nullable String target(String method, String path) {
		String rest = rest(path);
		if (rest == null) {
			return null;
		}
		int end = rest.indexOf('/');
		return method + ' ' + ((end < 0) ? rest : rest.substring(0, end));
	}

	static boolean isRead(String method) {
		return READS.contains(method.toUpperCase(Locale.ROOT));
	}

	private @Nullable String rest(String path) {
		for (String reading : PathReadings.of(path)) {
			if (reading.equals(this.prefix)) {
				return "";
			}
			if (reading.startsWith(this.prefix + '/')) {
				return reading.substring(this.prefix.length() + 1);
			}
		}
		return null;
	}

}
