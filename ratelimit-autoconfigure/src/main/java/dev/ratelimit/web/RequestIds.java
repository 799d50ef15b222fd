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

	/** No dot, colon or at sign: neither an address nor a name at some host. */
	private static final Pattern ID = Pattern.compile("[A-Za-z0-9_=-]{1,64}");

	private RequestIds() {
	}

	/**
	 * The id of a call.
	 * @param trustedPeer whether the header is believed
	 */
	static @Nullable String of(WebCall call, boolean trustedPeer) {
		String id = trustedPeer ? only(call.headers(REQUEST_ID)) : null;
		if (id != null && ID.matcher(id).matches()) {
			return id;
		}
		return call.traceId();
	}

	private static @Nullable String only(List<String> values) {
		return (values.size() == 1) ? values.get(0) : null;
	}

}
