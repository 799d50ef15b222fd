package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.CounterSpec;

/**
 * Tighter quotas that a tenant chose itself. In each window the smaller numbers apply,
 * the tenant's or the operators'. A limit that an operator lowers therefore applies at
 * once; one that an operator raises applies when the tenant removes its own.
 */
final class TenantCap {

	/**
	 * Number of remembered specs: combinations of tier, version and override of one
	 * tenant in use at the same time.
	 */
	private static final int REMEMBERED = 8;

	private final Map<String, List<Quota>> limits;

	private final LatestResults<CounterSpec, CounterSpec> tightened = new LatestResults<>(REMEMBERED);

	TenantCap(Map<String, List<Quota>> limits) {
		this.limits = Map.copyOf(limits);
	}

	Match apply(Match granted) {
		List<CounterSpec> specs = new ArrayList<>(granted.specs().size());
		boolean changed = false;
		for (CounterSpec spec : granted.specs()) {
			CounterSpec tightened = apply(spec);
			changed |= tightened != spec;
			specs.add(tightened);
		}
		return changed ? granted.with(specs) : granted;
	}

	private CounterSpec apply(CounterSpec granted) {
		List<Quota> own = this.limits.get(granted.limit().name());
		if (own == null || !granted.limit().by().equals(List.of(Dimension.TENANT))) {
			return granted;
		}
		CounterSpec known = this.tightened.get(granted);
		return (known != null) ? known : this.tightened.getOrMake(granted, (spec) -> tighten(spec, own));
	}

	/**
	 * Ignores quotas that no longer fit the policy, such as fewer permits than a counter
	 * has parts.
	 */
	private static CounterSpec tighten(CounterSpec granted, List<Quota> own) {
		try {
			List<Quota> quotas = granted.limit()
				.quotas()
				.stream()
				.map((quota) -> smaller(granted.algorithm(), quota, own))
				.toList();
			return quotas.equals(granted.limit().quotas()) ? granted : granted.with(quotas, ofSameWindows(own, quotas));
		}
		catch (IllegalArgumentException ex) {
			return granted;
		}
	}

	private static List<Quota> ofSameWindows(List<Quota> own, List<Quota> quotas) {
		return own.stream()
			.filter((quota) -> quotas.stream().anyMatch((other) -> other.window().equals(quota.window())))
			.toList();
	}

	private static Quota smaller(Algorithm algorithm, Quota granted, List<Quota> own) {
		Quota same = own.stream().filter((quota) -> quota.window().equals(granted.window())).findFirst().orElse(null);
		if (same == null) {
			return granted;
		}
		long permits = Math.min(granted.permits(), same.permits());
		return new Quota(permits, granted.window(),
				algorithm.hasBurst() ? Math.min(granted.burst(), same.burst()) : permits);
	}

	/** Without the tenant's quotas. */
	@Override
	public String toString() {
		return "tightening of " + this.limits.keySet();
	}

}
