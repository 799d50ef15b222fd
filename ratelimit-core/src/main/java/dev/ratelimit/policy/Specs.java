package dev.ratelimit.policy;

import java.util.HashMap;
import java.util.Map;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.CounterSpec;

/**
 * Creates each counter spec once. An unchanged limit of a new version gets the same spec
 * object, so that its leases and remembered refusals stay valid. All specs of one limit
 * share its live windows.
 */
final class Specs {

	private final Map<Kind, CounterSpec> known = new HashMap<>();

	private final PolicyWindows windows;

	Specs(PolicyWindows windows) {
		this.windows = windows;
	}

	PolicyWindows windows() {
		return this.windows;
	}

	void add(CounterSpec spec) {
		this.known.putIfAbsent(new Kind(spec.algorithm(), spec.limit(), spec.enforcement(), spec.settles()), spec);
	}

	CounterSpec get(Algorithm algorithm, Limit limit, Enforcement enforcement, boolean settles) {
		Enforcement own = (limit.enforcement() != null) ? limit.enforcement() : enforcement;
		return this.known.computeIfAbsent(new Kind(algorithm, limit, own, settles), (kind) -> new CounterSpec(algorithm,
				limit, enforcement, this.windows.of(algorithm, limit.name()), settles));
	}

	private record Kind(Algorithm algorithm, Limit limit, Enforcement enforcement, boolean settles) {
	}

}
