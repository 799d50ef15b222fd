package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
 * One version of a policy with all that can be computed once: how each limit counts by
 * default, for each tier and for each override. The default is beaten by the tier, the
 * tier by the caller's override.
 */
final class CompiledPolicy {

	private final Policy policy;

	private final Match byDefault;

	private final Map<String, Match> byTier;

	private final Overrides overrides;

	private final PolicyWindows windows;

	/**
	 * Compiles a version.
	 * @param shadow whether it is only reported, whatever it says itself
	 * @param owner what its counters belong to
	 */
	CompiledPolicy(Policy policy, boolean shadow, String owner, Specs specs) {
		this.policy = policy;
		this.windows = specs.windows();
		this.byDefault = new Match(policy, specs(Map.of(), specs), policy.settings().onFailure(),
				shadow || policy.settings().shadow(), owner);
		this.byTier = policy.settings()
			.tiers()
			.entrySet()
			.stream()
			.collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, (tier) -> match(tier.getValue(), specs)));
		this.overrides = new Overrides(policy.settings().overrides(), (override) -> specs(override, specs));
	}

	Policy policy() {
		return this.policy;
	}

	/**
	 * All that it may count by.
	 */
	Stream<CounterSpec> specs() {
		return Stream
			.of(this.byDefault.specs().stream(),
					this.byTier.values().stream().flatMap((match) -> match.specs().stream()), this.overrides.specs())
			.flatMap((specs) -> specs);
	}

	/**
	 * How a limit counts under this version.
	 */
	CounterSpec spec(Limit limit) {
		return new CounterSpec(this.policy.algorithm(), limit, this.policy.settings().enforcement(),
				this.windows.of(this.policy.algorithm(), limit.name()));
	}

	/**
	 * Whether this is how a limit counts under this version.
	 */
	boolean counts(CounterSpec spec, Limit limit) {
		return spec.algorithm() == this.policy.algorithm() && spec.limit().equals(limit)
				&& spec.shares(this.windows.of(this.policy.algorithm(), limit.name()))
				&& spec.enforcement() == ((limit.enforcement() != null) ? limit.enforcement()
						: this.policy.settings().enforcement());
	}

	Match match(Request request, Records records) {
		Match granted = granted(request, records);
		Tightening tightening = records.tightening(this.policy.id(), request);
		return (tightening != null) ? tightening.apply(granted) : granted;
	}

	/**
	 * The policy as operators want it for the caller, without what its tenant has given
	 * itself.
	 */
	Match granted(Request request, Records records) {
		String tier = records.tier(request);
		Match match = (tier != null) ? this.byTier.getOrDefault(tier, this.byDefault) : this.byDefault;
		ByDimension<OverrideRecord> written = records.overrides(this.policy.id());
		return (written == null && this.overrides.isEmpty()) ? match : override(match, request, written);
	}

	private Match override(Match match, Request request, @Nullable ByDimension<OverrideRecord> written) {
		List<CounterSpec> specs = null;
		for (int i = 0; i < match.specs().size(); i++) {
			CounterSpec spec = (written != null) ? written(i, request, written.tables()) : null;
			CounterSpec configured = this.overrides.isEmpty() ? null
					: this.overrides.find(match.specs().get(i).limit().name(), request,
							// A record names one dimension, and is later than what does
							// so
							// too.
							(spec != null) ? 2 : 1);
			spec = (configured != null) ? configured : spec;
			if (spec != null) {
				specs = (specs != null) ? specs : new ArrayList<>(match.specs());
				specs.set(i, spec);
			}
		}
		return (specs != null) ? match.with(specs) : match;
	}

	/** What the last record says that says something about this limit. */
	private @Nullable CounterSpec written(int limit, Request request, List<ByDimension.Table<OverrideRecord>> tables) {
		CounterSpec last = null;
		long order = 0;
		for (int i = 0; i < tables.size(); i++) {
			OverrideRecord record = tables.get(i).find(request);
			if (record != null && (last == null || record.order() > order)) {
				CounterSpec spec = record.spec(this, limit);
				if (spec != null) {
					last = spec;
					order = record.order();
				}
			}
		}
		return last;
	}

	private Match match(Tier tier, Specs specs) {
		FailureMode onFailure = (tier.onFailure() != null) ? tier.onFailure() : this.policy.settings().onFailure();
		return new Match(this.policy, specs(tier.limits(), specs), onFailure, this.byDefault.shadow(),
				this.byDefault.owner());
	}

	private List<CounterSpec> specs(Map<String, List<Quota>> changes, Specs specs) {
		return this.policy.limits().stream().map((limit) -> spec(limit, changes.get(limit.name()), specs)).toList();
	}

	private Map<String, CounterSpec> specs(PolicyOverride override, Specs specs) {
		return this.policy.limits()
			.stream()
			.filter((limit) -> override.limits().containsKey(limit.name()))
			.collect(Collectors.toUnmodifiableMap(Limit::name,
					(limit) -> spec(limit, override.limits().get(limit.name()), specs)));
	}

	private CounterSpec spec(Limit limit, @Nullable List<Quota> quotas, Specs specs) {
		return specs.get(this.policy.algorithm(), (quotas != null) ? limit.withQuotas(quotas) : limit,
				this.policy.settings().enforcement());
	}

}
