package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;

/**
 * The header {@code traceparent} of W3C Trace Context: version, trace, span and flags. A
 * caller may have made it up, so only what looks like an id is taken. Read by hand, as
 * every request passes here.
 */
final class TraceParent {

	private static final int FROM = 3;

	private static final int TO = 35;

	private static final int SPAN_TO = 52;

	private static final int SHORTEST = 55;

	private TraceParent() {
	}

	static @Nullable String traceId(String header) {
		if (header.length() < SHORTEST || header.charAt(FROM - 1) != '-' || header.charAt(TO) != '-'
				|| header.charAt(SPAN_TO) != '-') {
			return null;
		}
		boolean zero = true;
		for (int i = FROM; i < TO; i++) {
			char c = header.charAt(i);
			if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
				return null;
			}
			zero &= c == '0';
		}
		return zero ? null : header.substring(FROM, TO);
	}

}
