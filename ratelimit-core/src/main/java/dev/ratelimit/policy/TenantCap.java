package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.CounterSpec;

/**
 * Tighter quotas that a tenant has given itself. Whatever they say, of each window the
 * smaller numbers hold, the tenant's or the operators': so an operator who lowers a limit
 * is obeyed at once, and one who raises it is when the tenant lets go.
 */
final class Tightening {

	/** Tiers, versions and overrides of one tenant that are in use at once. */
	private static final int REMEMBERED = 8;

	private final Map<String, List<Quota>> limits;

	/**
	 * The same object for every request: leases and remembered refusals hold for as long
	 * as it is.
	 */
	private volatile List<Tightened> known = List.of();

	Tightening(Map<String, List<Quota>> limits) {
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
		for (Tightened tightened : this.known) {
			if (tightened.granted() == granted) {
				return tightened.spec();
			}
		}
		return remember(granted, own);
	}

	private synchronized CounterSpec remember(CounterSpec granted, List<Quota> own) {
		for (Tightened tightened : this.known) {
			if (tightened.granted() == granted) {
				return tightened.spec();
			}
		}
		CounterSpec spec = tighten(granted, own);
		this.known = Stream.concat(Stream.of(new Tightened(granted, spec)), this.known.stream())
			.limit(REMEMBERED)
			.toList();
		return spec;
	}

	/**
	 * What a policy has no room for any more, such as less than its parts, is left out.
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

	/** Without the quotas of a tenant. */
	@Override
	public String toString() {
		return "tightening of " + this.limits.keySet();
	}

	private record Tightened(CounterSpec granted, CounterSpec spec) {
	}

}
