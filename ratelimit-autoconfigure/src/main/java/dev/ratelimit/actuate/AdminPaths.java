package dev.ratelimit.actuate;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Which paths are the endpoint's.
 *
 * @param prefix such as {@code /actuator/ratelimit}
 */
public record AdminPaths(String prefix) {

	private static final String READS = "GET,HEAD,OPTIONS";

	public boolean contain(String path) {
		return path.equals(this.prefix) || path.startsWith(this.prefix + '/');
	}

	/**
	 * What a call would have changed, such as {@code POST switch}: of the path only the
	 * first name, since what follows may be a caller's.
	 * @return {@code null} if it is none that changes something here
	 */
	@Nullable String change(String method, String path) {
		if (!contain(path) || READS.contains(method.toUpperCase(Locale.ROOT))) {
			return null;
		}
		String rest = path.substring(Math.min(path.length(), this.prefix.length() + 1));
		int end = rest.indexOf('/');
		return method + ' ' + ((end < 0) ? rest : rest.substring(0, end));
	}

}
