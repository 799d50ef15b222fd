package dev.ratelimit.config;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.EnumText;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Rollout;
import dev.ratelimit.Settling;
import dev.ratelimit.Tier;

/**
 * Writes a policy in the shape of the configuration, without default values.
 */
final class PolicyDocument {

	private final Map<String, Object> fields = new LinkedHashMap<>();

	private PolicyDocument() {
	}

	static Map<String, Object> of(Policy policy) {
		Policy.Settings settings = policy.settings();
		Policy.Settings usual = Policy.Settings.DEFAULTS;
		PolicyDocument document = new PolicyDocument();
		document.put("description", settings.description(), usual.description());
		document.put("owner", settings.owner(), usual.owner());
		document.put("algorithm", policy.algorithm().text(), null);
		document.put("enforcement", text(settings.enforcement()), text(usual.enforcement()));
		document.put("mode", settings.shadow() ? "shadow" : "enforce", "enforce");
		document.put("on-failure", text(settings.onFailure()), text(usual.onFailure()));
		document.put("degraded-floor", text(settings.degradedFloor()), null);
		document.put("degraded-ceiling", text(settings.degradedCeiling()), null);
		document.put("on-missing-identity", text(settings.onMissingIdentity()), text(usual.onMissingIdentity()));
		document.put("timeout", text(settings.timeout()), null);
		document.put("costs", new TreeMap<>(settings.costs()), Map.of());
		Map<String, Object> limits = new LinkedHashMap<>();
		policy.limits().forEach((limit) -> limits.put(limit.name(), limit(limit)));
		document.put("limits", limits, null);
		Map<String, Object> tiers = new TreeMap<>();
		settings.tiers().forEach((name, tier) -> tiers.put(name, tier(tier)));
		document.put("tiers", tiers, Map.of());
		document.put("overrides", settings.overrides().stream().map(PolicyDocument::override).toList(), List.of());
		document.put("rollout", rollout(settings.rollout()), Map.of());
		document.put("penalty", penalty(settings.penalty()), null);
		document.put("cost", cost(settings.settling()), null);
		document.put("idempotency", idempotency(settings.idempotency()), null);
		return document.fields;
	}

	private void put(String field, @Nullable Object value, @Nullable Object usual) {
		if (value != null && !value.equals(usual)) {
			this.fields.put(field, value);
		}
	}

	private static Map<String, Object> limit(Limit limit) {
		PolicyDocument document = new PolicyDocument();
		document.put("by", limit.by().stream().map((dimension) -> dimension.name()).toList(), null);
		document.put("quota", texts(limit.quotas()), null);
		document.put("enforcement", text(limit.enforcement()), null);
		document.put("split", limit.split(), 1);
		return document.fields;
	}

	private static Map<String, Object> tier(Tier tier) {
		PolicyDocument document = new PolicyDocument();
		document.put("limits", quotas(tier.limits()), Map.of());
		document.put("on-failure", text(tier.onFailure()), null);
		return document.fields;
	}

	private static Map<String, Object> override(PolicyOverride override) {
		Map<String, String> when = new TreeMap<>();
		override.when().forEach((dimension, value) -> when.put(dimension.name(), ApiKeyDigest.said(dimension, value)));
		return Map.of("when", when, "limits", quotas(override.limits()));
	}

	private static Map<String, Object> rollout(Rollout rollout) {
		Rollout usual = Rollout.COMPLETE;
		PolicyDocument document = new PolicyDocument();
		document.put("percent", rollout.percent(), usual.percent());
		document.put("valid-from", (rollout.validFrom() != null) ? rollout.validFrom().toString() : null, null);
		document.put("stages", rollout.stages(), usual.stages());
		document.put("hold", text(rollout.hold()), text(usual.hold()));
		document.put("expect-refusals", rollout.expectRefusals(), usual.expectRefusals());
		return document.fields;
	}

	/** With its defaults: an object without fields would count as absent. */
	private static @Nullable Map<String, Object> penalty(@Nullable Penalty penalty) {
		if (penalty == null) {
			return null;
		}
		PolicyDocument document = new PolicyDocument();
		document.put("after", penalty.after(), null);
		document.put("cool-down", text(penalty.coolDown()), null);
		document.put("max", text(penalty.max()), null);
		document.put("ban-after", penalty.banAfter(), 0L);
		document.put("ban-for", text(penalty.banFor()), null);
		document.put("close-after", penalty.closeAfter(), 0L);
		return document.fields;
	}

	private static @Nullable Map<String, Object> cost(@Nullable Settling settling) {
		if (settling == null) {
			return null;
		}
		PolicyDocument document = new PolicyDocument();
		document.put("estimate", settling.estimate(), null);
		document.put("settle-header", settling.header(), null);
		document.put("settle-json", settling.json(), List.of());
		document.put("settle-status", new TreeMap<>(settling.statuses()), Map.of());
		return document.fields;
	}

	/** With its defaults: an object without fields would count as absent. */
	private static @Nullable Map<String, Object> idempotency(@Nullable Idempotency idempotency) {
		if (idempotency == null) {
			return null;
		}
		PolicyDocument document = new PolicyDocument();
		document.put("header", idempotency.header(), null);
		document.put("ttl", text(idempotency.ttl()), null);
		document.put("max-replays", idempotency.maxReplays(), null);
		return document.fields;
	}

	private static Map<String, List<String>> quotas(Map<String, List<Quota>> limits) {
		Map<String, List<String>> quotas = new TreeMap<>();
		limits.forEach((name, values) -> quotas.put(name, texts(values)));
		return quotas;
	}

	private static List<String> texts(List<Quota> quotas) {
		return quotas.stream().map(Quota::toString).toList();
	}

	private static @Nullable String text(@Nullable Enum<?> value) {
		return (value != null) ? EnumText.of(value) : null;
	}

	private static @Nullable String text(@Nullable Quota quota) {
		return (quota != null) ? quota.toString() : null;
	}

	private static @Nullable String text(@Nullable Duration duration) {
		return (duration == null) ? null : (duration.toNanos() % 1_000_000 == 0) ? duration.toMillis() + "ms"
				: duration.toNanos() / 1_000 + "us";
	}

}
