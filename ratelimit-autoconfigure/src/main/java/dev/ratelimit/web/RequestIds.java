package dev.ratelimit.web;

import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * What a call goes by elsewhere: the id that a proxy or the caller gave it, else the id
 * of its trace. Whatever does not look like an id is none, as callers can write anything.
 */
final class RequestIds {

	private static final String REQUEST_ID = "X-Request-Id";

	private static final String TRACE_PARENT = "traceparent";

	/** No dot, colon or at sign: neither an address nor a name at some host. */
	private static final Pattern ID = Pattern.compile("[A-Za-z0-9_=-]{1,64}");

	private static final Pattern TRACE = Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}.*");

	private static final int TRACE_ID_FROM = 3;

	private static final int TRACE_ID_TO = 35;

	private RequestIds() {
	}

	static @Nullable String of(WebCall call) {
		String id = only(call.headers(REQUEST_ID));
		if (id != null && ID.matcher(id).matches()) {
			return id;
		}
		String trace = only(call.headers(TRACE_PARENT));
		return (trace != null && TRACE.matcher(trace).matches()) ? trace.substring(TRACE_ID_FROM, TRACE_ID_TO) : null;
	}

	private static @Nullable String only(List<String> values) {
		return (values.size() == 1) ? values.get(0) : null;
	}

}
