package dev.ratelimit.benchmarks.report;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page with places for results: whatever is between {@code <!-- results of NAME -->}
 * and {@code <!-- end of results -->} is replaced.
 */
final class Page {

	private static final Pattern PLACE = Pattern
		.compile("(?s)<!-- results of ([a-z]+) -->\n.*?<!-- end of results -->");

	private Page() {
	}

	/**
	 * Puts results in their places; a place without results stays as it is.
	 * @param results by command
	 * @throws IllegalArgumentException if results have no place
	 */
	static String with(String page, Map<String, String> results) {
		for (String command : results.keySet()) {
			if (!page.contains(start(command))) {
				throw new IllegalArgumentException("the page has no '" + start(command) + "'");
			}
		}
		return PLACE.matcher(page).replaceAll((place) -> {
			String command = place.group(1);
			String result = results.get(command);
			return Matcher.quoteReplacement((result == null) ? place.group()
					: start(command) + "\n" + result.strip() + "\n<!-- end of results -->");
		});
	}

	private static String start(String command) {
		return "<!-- results of " + command + " -->";
	}

}
