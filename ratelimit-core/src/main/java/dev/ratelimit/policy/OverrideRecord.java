package dev.ratelimit.policy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Limit;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.CounterSpec;

/**
 * Other quotas for one caller, written at run time. Its counter specs under a version of
 * the policy are compiled at the caller's first request and then stay the same objects,
 * because leases and remembered refusals last only as long as the spec object.
 */
final class OverrideRecord {

	private final long order;

	private final Map<String, List<Quota>> limits;

	/** By limit. At most two versions of a policy are in force. */
	private final LatestResults<CompiledPolicy, @Nullable CounterSpec[]> compiled = new LatestResults<>(2);

	OverrideRecord(long order, Map<String, List<Quota>> limits) {
		this.order = order;
		this.limits = Map.copyOf(limits);
	}

	/** Position among all writes. */
	long order() {
		return this.order;
	}

	/**
	 * The quotas, by the name of the limit.
	 */
	Map<String, List<Quota>> limits() {
		return this.limits;
	}

	/**
	 * The counter spec of a limit of a policy, {@code null} if this record does not
	 * change the limit.
	 * @param index index of the limit
	 */
	@Nullable CounterSpec spec(CompiledPolicy policy, int index) {
		@Nullable CounterSpec @Nullable [] known = this.compiled.get(policy);
		return ((known != null) ? known : this.compiled.getOrMake(policy, this::compile))[index];
	}

	private @Nullable CounterSpec[] compile(CompiledPolicy policy) {
		List<Limit> limits = policy.policy().limits();
		@Nullable CounterSpec[] specs = new CounterSpec[limits.size()];
		for (int i = 0; i < specs.length; i++) {
			List<Quota> quotas = this.limits.get(limits.get(i).name());
			specs[i] = (quotas != null) ? spec(policy, limits.get(i), quotas) : null;
		}
		return specs;
	}

	/**
	 * {@code null} if the record was written for an earlier version and does not fit this
	 * one, such as a burst after a change of the algorithm. The version's own quotas
	 * apply then.
	 */
	private @Nullable CounterSpec spec(CompiledPolicy policy, Limit limit, List<Quota> quotas) {
		try {
			policy.policy().requireOverride(Map.of(limit.name(), quotas));
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
		Limit changed = limit.withQuotas(quotas);
		return this.compiled.values()
			.flatMap(Arrays::stream)
			.filter((spec) -> spec != null && policy.counts(spec, changed))
			.findFirst()
			.orElseGet(() -> policy.spec(changed));
	}

	/** Without the caller's quotas. */
	@Override
	public String toString() {
		return "override of " + this.limits.keySet();
	}

}
