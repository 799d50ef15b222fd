package dev.ratelimit.actuate;

import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.web.PathReadings;

/**
 * Which paths are the endpoint's.
 *
 * @param prefix such as {@code /actuator/ratelimit}
 */
public record AdminPaths(String prefix) {

	private static final Set<String> READS = Set.of("GET", "HEAD", "OPTIONS");

	/**
	 * Whether a path is one of them, in any of the ways in which it can be read.
	 * @param path as it was sent
	 */
	public boolean contain(String path) {
		return rest(path) != null;
	}

	/**
	 * What a call is about, such as {@code POST switch}: of the path only the first name,
	 * since what follows may be a caller's.
	 * @param path as it was sent
	 * @return {@code null} if it is none of these
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
