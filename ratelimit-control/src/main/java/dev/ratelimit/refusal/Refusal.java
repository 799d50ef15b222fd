package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.EnumText;
import dev.ratelimit.FailureMode;
import dev.ratelimit.json.JsonObject;

/**
 * A refused request with all that explains it, without a value of the caller.
 *
 * @param instance the instance that decided
 * @param caller pseudonyms by dimension; route and region as they are
 * @param repeated 0 for one refusal; otherwise the number of further refusals by the same
 * counter that this entry stands for
 * @param lasted the time of those, up to {@code time}
 */
public record Refusal(Instant time, String instance, Map<String, String> caller, Verdict verdict,
		RefusalContext context, @Nullable String traceId, long repeated, Duration lasted) {

	/**
	 * The decision.
	 *
	 * @param quota the quota that refused, {@code null} if none did
	 * @param node the Redis node that refused or did not answer, {@code null} for none
	 * @param replay whether an earlier attempt of the same request was admitted
	 */
	public record Verdict(String policy, long version, Decision.Outcome outcome, Decision.Reason reason,
			Decision.Source source, boolean shadow, @Nullable FailureMode mode, long cost, @Nullable QuotaState quota,
			@Nullable String node, boolean replay) {

		static Verdict of(Decision decision) {
			return new Verdict(decision.policy(), decision.version(), decision.outcome(), decision.reason(),
					decision.source(), decision.shadow(), decision.mode(), decision.cost(), QuotaState.of(decision),
					decision.node(), decision.replay());
		}

	}

	/**
	 * The refusal as the log and the endpoint show it.
	 */
	public JsonObject describe() {
		Verdict verdict = this.verdict;
		boolean repeats = this.repeated > 0;
		JsonObject described = new JsonObject().with("time", text(this.time))
			.with("repeated", repeats ? this.repeated : null)
			.with("since", repeats ? text(this.time.minus(this.lasted)) : null)
			.with("policy", verdict.policy())
			.with("version", verdict.version())
			.with("outcome", verdict.outcome().text())
			.with("reason", verdict.reason().text())
			.with("source", verdict.source().text())
			.with("node", verdict.node())
			.with("shadow", verdict.shadow())
			.with("degraded", verdict.mode() != null)
			.with("failureMode", (verdict.mode() != null) ? EnumText.of(verdict.mode()) : null)
			.with("cost", verdict.cost())
			.with("replay", verdict.replay() ? true : null);
		return ((verdict.quota() != null) ? described.withAll(describe(verdict.quota())) : described)
			.with("breakersOpen", this.context.breakersOpen())
			.with("change", this.context.isChangingFor(verdict) ? change() : null)
			.with("traceId", this.traceId)
			.with("instance", this.instance)
			.with("caller", this.caller);
	}

	private JsonObject describe(QuotaState quota) {
		List<String> missing = quota.by().stream().filter((name) -> !this.caller.containsKey(name)).toList();
		return new JsonObject().with("limit", quota.limit())
			.with("by", quota.by())
			.with("ipInsteadOf", missing.isEmpty() ? null : missing)
			.with("quota", quota.quota().toString())
			.with("window", quota.quota().window().toSeconds())
			.with("burst", quota.quota().burst())
			.with("used", quota.used())
			.with("remaining", quota.remaining())
			.with("neverFits", quota.neverFits() ? true : null)
			.with("retryAfterMs", quota.neverFits() ? null : roundedUp(quota.retryAfter()))
			.with("resetAfterMs", roundedUp(quota.resetAfter()));
	}

	private JsonObject change() {
		boolean changed = this.context.changed() != null;
		return new JsonObject().with("newestVersion", this.context.newestVersion())
			.with("rolloutPercent", this.context.rolloutPercent())
			.with("changed", this.context.changed())
			.with("changedMsAgo", changed ? this.context.changedAgo().toMillis() : null);
	}

	private static long roundedUp(Duration duration) {
		return duration.plusNanos(999_999).toMillis();
	}

	private static String text(Instant time) {
		return time.truncatedTo(ChronoUnit.MILLIS).toString();
	}

}
