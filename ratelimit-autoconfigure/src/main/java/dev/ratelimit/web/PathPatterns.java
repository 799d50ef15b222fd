package dev.ratelimit.web;

import java.util.List;

import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/**
 * Patterns of paths and the readings that they are matched with. Loaded only where there
 * is spring-web.
 */
final class PathPatterns {

	/** Paths are decoded before they are matched, and not a second time. */
	private static final PathContainer.Options DECODED = PathContainer.Options.create('/', false);

	private static final PathPatternParser ANY_CASE = new PathPatternParser();

	static {
		ANY_CASE.setCaseSensitive(false);
	}

	private PathPatterns() {
	}

	/**
	 * Compiles a pattern, whose trailing slash is ignored as that of a path is.
	 * @throws IllegalArgumentException if the text is not a pattern, or one that matches
	 * no reading
	 */
	static PathPattern parse(String text) {
		PathReadings.requireReadable(text);
		return parse(text, PathPatternParser.defaultInstance);
	}

	/**
	 * Compiles a pattern that matches in any case, as some upstreams route.
	 * @throws IllegalArgumentException if the text is not a pattern, or one that matches
	 * no reading
	 */
	static PathPattern parseAnyCase(String text) {
		PathReadings.requireReadable(text.replace("%2f", "%2F"));
		return parse(text, ANY_CASE);
	}

	private static PathPattern parse(String text, PathPatternParser parser) {
		boolean trailingSlash = text.length() > 1 && text.endsWith("/");
		try {
			return parser.parse(trailingSlash ? text.substring(0, text.length() - 1) : text);
		}
		catch (PatternParseException ex) {
			throw new IllegalArgumentException("not a path pattern (" + ex.getMessage()
					+ "), write for example /orders/export/** or /orders/{id}/report", ex);
		}
	}

	/**
	 * All readings of a path, for {@link PathPattern#matches}.
	 */
	static List<PathContainer> containers(List<String> readings) {
		return (readings.size() == 1) ? List.of(container(readings.get(0)))
				: readings.stream().map(PathPatterns::container).toList();
	}

	private static PathContainer container(String reading) {
		return PathContainer.parsePath(reading, DECODED);
	}

}
