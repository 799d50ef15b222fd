package dev.ratelimit.web;

import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The ids of a call. Headers that do not look like an id are ignored, as callers can
 * write anything. Micrometer's propagator would start a span to read the trace id and is
 * only there with tracing; usage events and refusals carry the id without tracing, too.
 *
 * @param id the request id: from the header, else the trace id
 * @param traceId from the W3C's header {@code traceparent}
 */
record RequestIds(@Nullable String id, @Nullable String traceId) {

	static final RequestIds NONE = new RequestIds(null, null);

	/** No dot, colon or at sign: neither an address nor a name at some host. */
	private static final Pattern ID = Pattern.compile("[A-Za-z0-9_=-]{1,64}");

	/** Where W3C Trace Context puts the trace: version, trace, span and flags. */
	private static final int TRACE_FROM = 3;

	private static final int TRACE_TO = 35;

	private static final int SPAN_TO = 52;

	private static final int SHORTEST = 55;

	/**
	 * The ids of a call.
	 * @param clientIp knows the proxies whose header is believed
	 */
	static RequestIds of(WebCall call, ClientIp clientIp) {
		List<String> traces = call.headers("traceparent");
		String traceId = (traces.size() == 1) ? traceId(traces.get(0)) : null;
		List<String> ids = call.headers("X-Request-Id");
		boolean valid = ids.size() == 1 && ID.matcher(ids.get(0)).matches() && clientIp.isTrustedPeer(call);
		String id = valid ? ids.get(0) : traceId;
		return (id != null) ? new RequestIds(id, traceId) : NONE;
	}

	/**
	 * The trace id in a header {@code traceparent}, {@code null} if it is invalid.
	 */
	static @Nullable String traceId(String header) {
		if (header.length() < SHORTEST || header.charAt(TRACE_FROM - 1) != '-' || header.charAt(TRACE_TO) != '-'
				|| header.charAt(SPAN_TO) != '-') {
			return null;
		}
		boolean zero = true;
		for (int i = TRACE_FROM; i < TRACE_TO; i++) {
			char c = header.charAt(i);
			if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
				return null;
			}
			zero &= c == '0';
		}
		return zero ? null : header.substring(TRACE_FROM, TRACE_TO);
	}

}
