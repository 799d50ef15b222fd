package dev.ratelimit.policy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Limit;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.CounterSpec;

/**
 * Other quotas for one caller, written at run time. How they count under a version of the
 * policy is worked out when the caller first comes and is then the same object for every
 * request: leases and remembered refusals hold for as long as it is.
 */
final class OverrideRecord implements ByDimension.Ordered {

	private final long order;

	private final Map<String, List<Quota>> limits;

	private volatile List<Compiled> compiled = List.of();

	OverrideRecord(long order, Map<String, List<Quota>> limits) {
		this.order = order;
		this.limits = Map.copyOf(limits);
	}

	@Override
	public long order() {
		return this.order;
	}

	/**
	 * The quotas, by the name of the limit.
	 */
	Map<String, List<Quota>> limits() {
		return this.limits;
	}

	/**
	 * How a limit of a policy counts, {@code null} if this says nothing about it.
	 * @param index of the limit
	 */
	@Nullable CounterSpec spec(CompiledPolicy policy, int index) {
		List<Compiled> compiled = this.compiled;
		for (int i = 0; i < compiled.size(); i++) {
			if (compiled.get(i).policy() == policy) {
				return compiled.get(i).specs()[index];
			}
		}
		return compile(policy).specs()[index];
	}

	private synchronized Compiled compile(CompiledPolicy policy) {
		for (Compiled known : this.compiled) {
			if (known.policy() == policy) {
				return known;
			}
		}
		List<Limit> limits = policy.policy().limits();
		@Nullable CounterSpec[] specs = new CounterSpec[limits.size()];
		for (int i = 0; i < specs.length; i++) {
			List<Quota> quotas = this.limits.get(limits.get(i).name());
			specs[i] = (quotas != null) ? spec(policy, limits.get(i), quotas) : null;
		}
		Compiled fresh = new Compiled(policy, specs);
		// Of a policy at most two versions are in force.
		this.compiled = this.compiled.isEmpty() ? List.of(fresh) : List.of(fresh, this.compiled.get(0));
		return fresh;
	}

	/**
	 * A version may no longer have room for what was written under an earlier one, such
	 * as a burst after a change of the algorithm. Its own quotas hold then.
	 */
	private @Nullable CounterSpec spec(CompiledPolicy policy, Limit limit, List<Quota> quotas) {
		try {
			policy.policy().requireOverride(Map.of(limit.name(), quotas));
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
		Limit changed = limit.withQuotas(quotas);
		for (Compiled known : this.compiled) {
			for (CounterSpec spec : known.specs()) {
				if (spec != null && policy.counts(spec, changed)) {
					return spec;
				}
			}
		}
		return policy.spec(changed);
	}

	/** Without the quotas of a caller. */
	@Override
	public String toString() {
		return "override of " + this.limits.keySet();
	}

	private record Compiled(CompiledPolicy policy, @Nullable CounterSpec[] specs) {

		@Override
		public boolean equals(@Nullable Object other) {
			return this == other;
		}

		@Override
		public int hashCode() {
			return System.identityHashCode(this);
		}

		@Override
		public String toString() {
			return Arrays.toString(this.specs);
		}

	}

}
