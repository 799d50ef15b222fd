package dev.ratelimit.web;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads parameters of a query, in the same way on both stacks.
 */
public final class QueryParameters {

	private QueryParameters() {
	}

	/**
	 * All values of a parameter, decoded.
	 * @param query as it was sent
	 */
	public static List<String> values(String query, String name) {
		List<String> values = new ArrayList<>(1);
		for (String pair : query.split("&")) {
			int equals = pair.indexOf('=');
			if (decode((equals < 0) ? pair : pair.substring(0, equals)).equals(name)) {
				values.add((equals < 0) ? "" : decode(pair.substring(equals + 1)));
			}
		}
		return values;
	}

	/** A text that is not encoded correctly stays as it is. */
	private static String decode(String text) {
		try {
			return URLDecoder.decode(text, StandardCharsets.UTF_8);
		}
		catch (IllegalArgumentException ex) {
			return text;
		}
	}

}
