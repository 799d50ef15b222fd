package dev.ratelimit.web;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The header {@code traceparent} of W3C Trace Context. A caller may have made it up, so
 * only what looks like an id is taken.
 */
final class TraceParent {

	private static final Pattern FORMAT = Pattern
		.compile("[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}.*");

	private static final int LONGEST = 256;

	private TraceParent() {
	}

	static @Nullable String traceId(String header) {
		Matcher matcher = FORMAT.matcher(header);
		return (header.length() <= LONGEST && matcher.matches()) ? matcher.group(1) : null;
	}

}
