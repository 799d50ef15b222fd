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
 * One version of a policy with everything that can be computed in advance: the counter
 * specs of each limit by default, for each tier and for each override. A tier replaces
 * the default, and the caller's override replaces the tier.
 */
final class CompiledPolicy {

	private final Policy policy;

	private final Match byDefault;

	private final Map<String, Match> byTier;

	private final Overrides overrides;

	private final PolicyWindows windows;

	/**
	 * Compiles a version.
	 * @param shadow whether the version is only reported, even if its settings say
	 * otherwise
	 * @param owner owner of the counters, part of their keys
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

	Stream<CounterSpec> specs() {
		return Stream
			.of(this.byDefault.specs().stream(),
					this.byTier.values().stream().flatMap((match) -> match.specs().stream()), this.overrides.specs())
			.flatMap((specs) -> specs);
	}

	CounterSpec spec(Limit limit) {
		return new CounterSpec(this.policy.algorithm(), limit, this.policy.settings().enforcement(),
				this.windows.of(this.policy.algorithm(), limit.name()), settles());
	}

	private boolean settles() {
		return this.policy.settings().settling() != null;
	}

	/**
	 * Whether a spec equals the spec of a limit in this version.
	 */
	boolean counts(CounterSpec spec, Limit limit) {
		return spec.algorithm() == this.policy.algorithm() && spec.limit().equals(limit) && spec.settles() == settles()
				&& spec.shares(this.windows.of(this.policy.algorithm(), limit.name()))
				&& spec.enforcement() == ((limit.enforcement() != null) ? limit.enforcement()
						: this.policy.settings().enforcement());
	}

	Match match(Request request, CallerRecords records) {
		Match granted = granted(request, records);
		TenantCap tightening = isEmpty(records) ? null : records.tightening(this.policy.id(), request);
		return (tightening != null) ? tightening.apply(granted) : granted;
	}

	/**
	 * The policy that operators grant the caller, without the tighter quotas that its
	 * tenant chose.
	 */
	Match granted(Request request, CallerRecords records) {
		boolean none = isEmpty(records);
		String tier = none ? request.tier() : records.tier(request);
		Match match = (tier != null) ? this.byTier.getOrDefault(tier, this.byDefault) : this.byDefault;
		CallerIndex<OverrideRecord> written = none ? null : records.overrides(this.policy.id());
		return (written == null && this.overrides.isEmpty()) ? match : override(match, request, written);
	}

	/** Whether there has never been a record. */
	private static boolean isEmpty(CallerRecords records) {
		return records.dimensions().isEmpty();
	}

	private Match override(Match match, Request request, @Nullable CallerIndex<OverrideRecord> written) {
		List<CallerIndex.Table<OverrideRecord>> tables = (written != null) ? written.tables() : List.of();
		@Nullable OverrideRecord @Nullable [] latest = latest(request, tables);
		List<CounterSpec> specs = null;
		for (int i = 0; i < match.specs().size(); i++) {
			CounterSpec spec = changed(i, request, (latest != null) ? latest[i] : null, false);
			if (spec != null) {
				specs = (specs != null) ? specs : new ArrayList<>(match.specs());
				specs.set(i, besideOthers(spec, i, request, tables));
			}
		}
		return (specs != null) ? match.with(specs) : match;
	}

	/**
	 * The counter spec of a caller with an override, {@code null} if it has none.
	 * @param record the latest record about the caller
	 * @param own whether only overrides of all callers of the counter count
	 */
	private @Nullable CounterSpec changed(int index, Request request, @Nullable OverrideRecord record, boolean own) {
		CounterSpec spec = (record != null) ? record.spec(this, index) : null;
		// A record names one dimension and is later than any configured override that
		// names one.
		CounterSpec configured = this.overrides.isEmpty() ? null
				: this.overrides.find(this.policy.limits().get(index), request, (spec != null) ? 2 : 1, own);
		return (configured != null) ? configured : spec;
	}

	/**
	 * The spec of a caller with an override. If the other callers of the counter have an
	 * override of the whole counter, the spec also keeps the state that their quotas
	 * need.
	 */
	private CounterSpec besideOthers(CounterSpec spec, int index, Request request,
			List<CallerIndex.Table<OverrideRecord>> tables) {
		OverrideRecord record = null;
		for (int i = 0; i < tables.size(); i++) {
			boolean own = PolicyWindows.isOwn(this.policy.limits().get(index), tables.get(i).form().dimensions());
			OverrideRecord found = own ? tables.get(i).find(request, Facts.VERIFIED) : null;
			if (found != null && found.spec(this, index) != null
					&& (record == null || found.order() > record.order())) {
				record = found;
			}
		}
		CounterSpec others = changed(index, request, record, true);
		return (others == null || others == spec) ? spec : this.windows.beside(spec, others);
	}

	/** The latest record that changes each limit; {@code null} if there is none. */
	private @Nullable OverrideRecord @Nullable [] latest(Request request,
			List<CallerIndex.Table<OverrideRecord>> tables) {
		@Nullable OverrideRecord @Nullable [] latest = null;
		for (int i = 0; i < tables.size(); i++) {
			OverrideRecord record = tables.get(i).find(request, Facts.VERIFIED);
			for (int limit = 0; record != null && limit < this.policy.limits().size(); limit++) {
				latest = (latest != null) ? latest : new OverrideRecord[this.policy.limits().size()];
				OverrideRecord before = latest[limit];
				if (record.spec(this, limit) != null && (before == null || record.order() > before.order())) {
					latest[limit] = record;
				}
			}
		}
		return latest;
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
				this.policy.settings().enforcement(), settles());
	}

}
