package dev.ratelimit.admin;

import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

import dev.ratelimit.Enforcement;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.limiter.LimitUsage;

/**
 * Describes the usage of limits in the words of the response headers: {@code limit} is
 * the burst, from which {@code remaining} counts down.
 */
public final class UsageView {

	private final Clock clock;

	public UsageView(Clock clock) {
		this.clock = clock;
	}

	public JsonObject describe(LimitUsage usage) {
		boolean strict = usage.enforcement() == Enforcement.STRICT;
		Instant now = this.clock.instant();
		return new JsonObject().with("limit", usage.limit().name())
			.with("by", names(usage.limit().by()))
			.with("ipInsteadOf", usage.byIp().isEmpty() ? null : names(usage.byIp()))
			.with("enforcement", usage.enforcement().text())
			.with("heldByThisInstance", strict ? null : usage.held())
			.with("answered", usage.answered() ? null : false)
			.with("quotas", usage.statuses().stream().map((status) -> describe(status, now)).toList());
	}

	public static List<String> names(List<?> values) {
		return values.stream().map(Object::toString).toList();
	}

	private static Map<String, Object> describe(LimitStatus status, Instant now) {
		long remaining = Math.max(0, status.remaining());
		return new JsonObject().with("quota", status.quota().toString())
			.with("window", status.quota().window().toSeconds())
			.with("limit", status.quota().burst())
			.with("used", Math.max(0, status.quota().burst() - remaining))
			.with("remaining", remaining)
			.with("reset", now.plus(status.resetAfter()).truncatedTo(ChronoUnit.MILLIS).toString())
			.with("resetAfter", status.resetAfter().plusNanos(999_999_999).toSeconds());
	}

}
