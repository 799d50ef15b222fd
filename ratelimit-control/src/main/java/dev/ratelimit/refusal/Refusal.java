package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;

/**
 * A request that was refused and all that explains it, without a value of the caller.
 *
 * @param time when
 * @param instance which instance decided
 * @param caller pseudonyms by the names of dimensions; route and region as they are
 * @param verdict what was decided
 * @param circumstances what else was going on
 * @param traceId trace of the request, {@code null} if there was none
 * @param repeated 0 for one refusal; otherwise this stands for so many more by the same
 * counter
 * @param lasted the time before {@code time} in which those were
 */
public record Refusal(Instant time, String instance, Map<String, String> caller, Verdict verdict,
		Circumstances circumstances, @Nullable String traceId, long repeated, Duration lasted) {

	/**
	 * What was decided.
	 *
	 * @param quota the quota that refused, {@code null} if none did
	 * @param node the Redis node that refused or did not answer, {@code null} if none had
	 * a part in it
	 */
	public record Verdict(String policy, long version, Decision.Outcome outcome, Decision.Reason reason,
			Decision.Source source, boolean shadow, @Nullable FailureMode mode, long cost, @Nullable QuotaState quota,
			@Nullable String node) {

		static Verdict of(Decision decision) {
			return new Verdict(decision.policy(), decision.version(), decision.outcome(), decision.reason(),
					decision.source(), decision.shadow(), decision.mode(), decision.cost(), QuotaState.of(decision),
					decision.node());
		}

	}

	/**
	 * The same at another time.
	 */
	public Refusal at(Instant time) {
		return new Refusal(time, this.instance, this.caller, this.verdict, this.circumstances, this.traceId,
				this.repeated, this.lasted);
	}

	/**
	 * The refusal in the words of the response and the endpoint, as it is shown.
	 */
	public Map<String, Object> describe() {
		Map<String, Object> described = new LinkedHashMap<>(48);
		described.put("time", text(this.time));
		if (this.repeated > 0) {
			described.put("repeated", this.repeated);
			described.put("since", text(this.time.minus(this.lasted)));
		}
		Verdict verdict = this.verdict;
		described.put("policy", verdict.policy());
		described.put("version", verdict.version());
		described.put("outcome", verdict.outcome().text());
		described.put("reason", verdict.reason().text());
		described.put("source", verdict.source().text());
		put(described, "node", verdict.node());
		described.put("shadow", verdict.shadow());
		described.put("degraded", verdict.mode() != null);
		put(described, "failureMode", (verdict.mode() != null) ? verdict.mode().name().toLowerCase(Locale.ROOT) : null);
		described.put("cost", verdict.cost());
		if (verdict.quota() != null) {
			describe(verdict.quota(), described);
		}
		described.put("breakersOpen", this.circumstances.breakersOpen());
		if (this.circumstances.isChangingFor(verdict)) {
			described.put("change", change());
		}
		put(described, "traceId", this.traceId);
		described.put("instance", this.instance);
		described.put("caller", this.caller);
		return described;
	}

	private void describe(QuotaState quota, Map<String, Object> described) {
		described.put("limit", quota.limit());
		described.put("by", quota.by());
		List<String> missing = quota.by().stream().filter((name) -> !this.caller.containsKey(name)).toList();
		if (!missing.isEmpty()) {
			described.put("ipInsteadOf", missing);
		}
		described.put("quota", quota.quota().toString());
		described.put("window", quota.quota().window().toSeconds());
		described.put("burst", quota.quota().burst());
		described.put("used", quota.used());
		described.put("remaining", quota.remaining());
		if (quota.neverFits()) {
			described.put("neverFits", true);
		}
		else {
			described.put("retryAfterMs", roundedUp(quota.retryAfter()));
		}
		described.put("resetAfterMs", roundedUp(quota.resetAfter()));
	}

	private Map<String, Object> change() {
		Map<String, Object> change = new LinkedHashMap<>();
		change.put("newestVersion", this.circumstances.newestVersion());
		change.put("rolloutPercent", this.circumstances.rolloutPercent());
		if (this.circumstances.changed() != null) {
			change.put("changed", this.circumstances.changed());
			change.put("changedMsAgo", this.circumstances.changedAgo().toMillis());
		}
		return change;
	}

	private static void put(Map<String, Object> described, String name, @Nullable Object value) {
		if (value != null) {
			described.put(name, value);
		}
	}

	private static long roundedUp(Duration duration) {
		return duration.plusNanos(999_999).toMillis();
	}

	private static String text(Instant time) {
		return time.truncatedTo(ChronoUnit.MILLIS).toString();
	}

}
