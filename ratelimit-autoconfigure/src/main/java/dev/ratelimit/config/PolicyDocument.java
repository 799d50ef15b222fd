package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Rollout;
import dev.ratelimit.Tier;

/**
 * Writes a policy in the shape of the configuration, without what it has by default.
 */
final class PolicyDocument {

	private final Map<String, Object> fields = new LinkedHashMap<>();

	private PolicyDocument() {
	}

	static Map<String, Object> of(Policy policy) {
		Policy.Settings settings = policy.settings();
		Policy.Settings usual = Policy.Settings.DEFAULTS;
		Quota floor = settings.degradedFloor();
		PolicyDocument document = new PolicyDocument();
		document.put("description", settings.description(), usual.description());
		document.put("owner", settings.owner(), usual.owner());
		document.put("algorithm", policy.algorithm().text(), null);
		document.put("enforcement", text(settings.enforcement()), text(usual.enforcement()));
		document.put("mode", settings.shadow() ? "shadow" : "enforce", "enforce");
		document.put("on-failure", text(settings.onFailure()), text(usual.onFailure()));
		document.put("degraded-floor", (floor != null) ? floor.toString() : null, null);
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
		return (value != null) ? value.name().toLowerCase(Locale.ROOT).replace('_', '-') : null;
	}

	private static @Nullable String text(@Nullable Duration duration) {
		return (duration == null) ? null : (duration.toNanos() % 1_000_000 == 0) ? duration.toMillis() + "ms"
				: duration.toNanos() / 1_000 + "us";
	}

}
