package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Tier;
import dev.ratelimit.counter.CounterSpec;

/**
 * A policy with all that can be computed once: how each limit counts by default, for each
 * tier and for each override. The default is beaten by the tier, the tier by the caller's
 * override.
 */
final class CompiledPolicy {

	private final Policy policy;

	private final Match byDefault;

	private final Map<String, Match> byTier;

	private final Overrides overrides;

	CompiledPolicy(Policy policy) {
		this.policy = policy;
		this.byDefault = new Match(policy, specs(Map.of()), policy.settings().onFailure());
		this.byTier = policy.settings()
			.tiers()
			.entrySet()
			.stream()
			.collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, (tier) -> match(tier.getValue())));
		this.overrides = new Overrides(policy.settings().overrides(), this::specs);
	}

	Policy policy() {
		return this.policy;
	}

	Match match(Request request) {
		Match match = (request.tier() != null) ? this.byTier.getOrDefault(request.tier(), this.byDefault)
				: this.byDefault;
		return this.overrides.isEmpty() ? match : override(match, request);
	}

	private Match override(Match match, Request request) {
		List<CounterSpec> specs = null;
		for (int i = 0; i < match.specs().size(); i++) {
			CounterSpec spec = this.overrides.find(match.specs().get(i).limit().name(), request);
			if (spec != null) {
				specs = (specs != null) ? specs : new ArrayList<>(match.specs());
				specs.set(i, spec);
			}
		}
		return (specs != null) ? new Match(this.policy, specs, match.onFailure()) : match;
	}

	private Match match(Tier tier) {
		FailureMode onFailure = (tier.onFailure() != null) ? tier.onFailure() : this.policy.settings().onFailure();
		return new Match(this.policy, specs(tier.limits()), onFailure);
	}

	private List<CounterSpec> specs(Map<String, List<Quota>> changes) {
		return this.policy.limits().stream().map((limit) -> spec(limit, changes.get(limit.name()))).toList();
	}

	private Map<String, CounterSpec> specs(PolicyOverride override) {
		return this.policy.limits()
			.stream()
			.filter((limit) -> override.limits().containsKey(limit.name()))
			.collect(Collectors.toUnmodifiableMap(Limit::name,
					(limit) -> spec(limit, override.limits().get(limit.name()))));
	}

	private CounterSpec spec(Limit limit, @Nullable List<Quota> quotas) {
		return new CounterSpec(this.policy.algorithm(), (quotas != null) ? limit.withQuotas(quotas) : limit,
				this.policy.settings().enforcement());
	}

}
