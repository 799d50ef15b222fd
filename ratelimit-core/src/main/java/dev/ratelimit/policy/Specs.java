package dev.ratelimit.policy;

import java.util.HashMap;
import java.util.Map;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.CounterSpec;

/**
 * Makes specs, and each of them once: a version that leaves a limit as it was counts it
 * by the same object, so that what is leased and remembered under the one before holds.
 * Those of one limit share its live windows.
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
		this.known.putIfAbsent(new Kind(spec.algorithm(), spec.limit(), spec.enforcement()), spec);
	}

	CounterSpec get(Algorithm algorithm, Limit limit, Enforcement enforcement) {
		Enforcement own = (limit.enforcement() != null) ? limit.enforcement() : enforcement;
		return this.known.computeIfAbsent(new Kind(algorithm, limit, own),
				(kind) -> new CounterSpec(algorithm, limit, enforcement, this.windows.of(algorithm, limit.name())));
	}

	private record Kind(Algorithm algorithm, Limit limit, Enforcement enforcement) {
	}

}
