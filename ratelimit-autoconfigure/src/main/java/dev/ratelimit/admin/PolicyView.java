package dev.ratelimit.admin;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.control.RolloutCounts;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.policy.BucketTally;
import dev.ratelimit.policy.RolloutJudge;
import dev.ratelimit.policy.Tally;
import dev.ratelimit.store.RecordVersion;

/**
 * Policies, their versions and their rollouts as answers show them.
 */
final class PolicyView {

	private PolicyView() {
	}

	static Map<String, Object> inShort(Collection<Policy> policies) {
		Map<String, Object> shown = new TreeMap<>();
		policies.forEach((policy) -> shown.put(policy.id(), Map.of("version", policy.version(), "onFailure",
				policy.settings().onFailure().text(), "mode", mode(policy))));
		return shown;
	}

	static JsonObject of(Policy policy) {
		JsonObject limits = new JsonObject();
		policy.limits().forEach((limit) -> limits.put(limit.name(), of(limit)));
		return new JsonObject().with("id", policy.id())
			.with("version", policy.version())
			.with("description", policy.settings().description())
			.with("owner", policy.settings().owner())
			.with("algorithm", policy.algorithm().text())
			.with("mode", mode(policy))
			.with("onFailure", policy.settings().onFailure().text())
			.with("onMissingIdentity", policy.settings().onMissingIdentity().text())
			.with("limits", limits)
			.with("tiers", policy.settings().tiers().keySet())
			.with("overrides", policy.settings().overrides().size());
	}

	private static JsonObject of(Limit limit) {
		return new JsonObject().with("by", UsageView.names(limit.by())).with("quota", UsageView.names(limit.quotas()));
	}

	private static String mode(Policy policy) {
		return policy.settings().shadow() ? "shadow" : "enforce";
	}

	static JsonObject of(Rejected rejected) {
		return new JsonObject().with("kind", rejected.key().kind().text())
			.with("id", RecordIds.today(rejected.key()).id())
			.with("version", rejected.version())
			.with("message", rejected.message());
	}

	static JsonObject of(RecordVersion version) {
		return new JsonObject().with("version", version.version())
			.with("actor", version.actor())
			.with("time", version.time().toString())
			.with("reason", version.reason())
			.with("deleted", version.deleted());
	}

	static JsonObject of(RolloutState state) {
		JsonObject shown = new JsonObject().with("version", state.version())
			.with("previous", state.previous())
			.with("percent", state.percent())
			.with("stage", (state.stages() > 0) ? state.stage() + " of " + state.stages() : null)
			.with("since", state.since().toString())
			.with("nextAt", (state.nextAt() != null) ? state.nextAt().toString() : null)
			.with("judgement", (state.judgement() != null) ? state.judgement().text() : null);
		RolloutCounts counts = state.counts();
		return (counts == null) ? shown
				: shown.with("counted", counts.fleet() ? "fleet" : "instance")
					.with("newVersion", of(counts.next()))
					.with("previousVersion", of(counts.previous()))
					.with("comparison",
							new JsonObject().with("bothAllowed", counts.bothAllowed())
								.with("bothRefused", counts.bothRefused())
								.with("onlyNewRefused", counts.onlyNewRefused())
								.with("onlyOldRefused", counts.onlyOldRefused()))
					.with("judged", counts.buckets().isEmpty() ? null : judged(counts.buckets()));
	}

	private static JsonObject judged(List<BucketTally> buckets) {
		BucketTally all = RolloutJudge.sum(buckets);
		return new JsonObject().with("buckets", buckets.stream().filter((bucket) -> bucket.decisions() > 0).count())
			.with("decisions", all.decisions())
			.with("onlyNewRefused", all.onlyNewRefused())
			.with("onlyOldRefused", all.onlyOldRefused());
	}

	private static JsonObject of(Tally tally) {
		return new JsonObject().with("decisions", tally.decisions()).with("refusals", tally.refusals());
	}

}
