package dev.ratelimit.admin;

import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import dev.ratelimit.Enforcement;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.limiter.LimitUsage;

/**
 * Says what was used of limits, in the words of the response headers: {@code limit} is
 * the burst, from which {@code remaining} counts down.
 */
public final class UsageView {

	private final Clock clock;

	public UsageView(Clock clock) {
		this.clock = clock;
	}

	/**
	 * One limit.
	 */
	public Map<String, Object> describe(LimitUsage usage) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("limit", usage.limit().name());
		described.put("by", names(usage.limit().by()));
		if (!usage.byIp().isEmpty()) {
			described.put("ipInsteadOf", names(usage.byIp()));
		}
		described.put("enforcement", usage.enforcement().name().toLowerCase(Locale.ROOT));
		if (usage.enforcement() != Enforcement.STRICT) {
			described.put("heldByThisInstance", usage.held());
		}
		if (!usage.answered()) {
			described.put("answered", false);
		}
		Instant now = this.clock.instant();
		described.put("quotas", usage.statuses().stream().map((status) -> describe(status, now)).toList());
		return described;
	}

	public static List<String> names(List<?> values) {
		return values.stream().map(Object::toString).toList();
	}

	private static Map<String, Object> describe(LimitStatus status, Instant now) {
		long remaining = Math.max(0, status.remaining());
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("quota", status.quota().toString());
		described.put("window", status.quota().window().toSeconds());
		described.put("limit", status.quota().burst());
		described.put("used", Math.max(0, status.quota().burst() - remaining));
		described.put("remaining", remaining);
		described.put("reset", now.plus(status.resetAfter()).truncatedTo(ChronoUnit.MILLIS).toString());
		described.put("resetAfter", status.resetAfter().plusNanos(999_999_999).toSeconds());
		return described;
	}

}
