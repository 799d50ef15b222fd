package dev.ratelimit.web;

import java.util.List;
import java.util.Map;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-11. The draft still moves; all that
 * is known of its syntax is in here. Names are quoted as they are: what a limit may be
 * called needs no escaping in a structured field.
 */
final class DraftFields {

	private DraftFields() {
	}

	static void write(Map<String, String> headers, List<LimitStatus> limits, LimitStatus decisive) {
		headers.put("RateLimit-Policy", policies(limits));
		headers.put("RateLimit", limit(decisive));
	}

	/**
	 * What a quota is called: its limit's name, with the window if the limit has several.
	 */
	static String name(LimitStatus status) {
		String limit = status.limit().name();
		return (status.limit().quotas().size() == 1) ? limit : limit + "-" + Quota.text(status.quota().window());
	}

	private static String policies(List<LimitStatus> limits) {
		StringBuilder text = new StringBuilder(limits.size() * 32);
		for (LimitStatus status : limits) {
			text.append(text.isEmpty() ? "\"" : ", \"").append(name(status));
			text.append("\";q=").append(status.quota().permits());
			text.append(";w=").append(status.quota().window().toSeconds());
		}
		return text.toString();
	}

	/** Until the next permit, or on refusal until the cost fits, which may be never. */
	private static String limit(LimitStatus status) {
		String text = "\"" + name(status) + "\";r=" + status.remaining();
		if (status.neverFits()) {
			return text;
		}
		long micros = status.refuses() ? status.retryAfterMicros() : status.nextAfterMicros();
		return text + ";t=" + RetryAfter.ceil(micros, 1_000_000);
	}

}
