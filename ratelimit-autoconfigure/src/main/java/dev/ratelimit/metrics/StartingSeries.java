package dev.ratelimit.metrics;

import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import dev.ratelimit.Decision;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Settlement;
import dev.ratelimit.Tier;

/**
 * Series of a policy that start at 0 with it, because alerts and the dashboard read them:
 * of a counter that appears with its first value, a rate does not see this step.
 *
 * <p>
 * Their number is bounded by the failure modes of the policy: at most seven series of
 * decisions for each version, thirteen of degraded decisions for each mode, and seven of
 * settled costs. A registry with more than {@link #MOST_POLICIES} policies would be full
 * of zeros, so there series begin with their first value.
 *
 * @param backend where counters are kept; series start for Redis and for memory
 */
record StartingSeries(Decision.Source backend) {

	static final StartingSeries NONE = new StartingSeries(Decision.Source.NONE);

	static final int MOST_POLICIES = 500;

	void decisions(CounterTable<Decision.Outcome, Decision.Source> decisions, Policy version) {
		if (this.backend != Decision.Source.REDIS && this.backend != Decision.Source.MEMORY) {
			return;
		}
		Policy.Settings settings = version.settings();
		Decision.Outcome refused = settings.shadow() ? Decision.Outcome.SHADOW_REFUSED : Decision.Outcome.REFUSED;
		decisions.begin(Decision.Outcome.ALLOWED, this.backend);
		decisions.begin(refused, this.backend);
		if (this.backend == Decision.Source.MEMORY) {
			return;
		}
		decisions.begin(refused, Decision.Source.DENIED_CACHE);
		decisions.begin(Decision.Outcome.ERROR, Decision.Source.NONE);
		if (isLeased(version)) {
			decisions.begin(Decision.Outcome.ALLOWED, Decision.Source.LEASE);
		}
		boolean local = modes(version).contains(FailureMode.LOCAL);
		if (local) {
			decisions.begin(Decision.Outcome.ALLOWED, Decision.Source.LOCAL);
		}
		if (local || settings.degradedFloor() != null || settings.degradedCeiling() != null) {
			decisions.begin(refused, Decision.Source.LOCAL);
		}
	}

	/**
	 * Of a policy that settles costs; an alert reads the lost ones, of any number of
	 * policies.
	 */
	Set<Settlement> settlements() {
		return (this.backend == Decision.Source.NONE) ? EnumSet.of(Settlement.LOST) : EnumSet.allOf(Settlement.class);
	}

	/** The switch may force any mode. */
	void degraded(CounterTable<FailureMode, Decision.Reason> degraded, List<Policy> versions) {
		List<Decision.Reason> reasons = switch (this.backend) {
			case REDIS -> NodeMeters.nodeReasons().toList();
			case MEMORY -> List.of(Decision.Reason.INTERNAL);
			case LEASE, DENIED_CACHE, LOCAL, NONE -> List.of();
		};
		versions.stream()
			.flatMap((version) -> modes(version).stream())
			.forEach((mode) -> reasons.forEach((reason) -> degraded.begin(mode, reason)));
		if (!reasons.isEmpty()) {
			Stream.of(FailureMode.values()).forEach((mode) -> degraded.begin(mode, Decision.Reason.SWITCH));
		}
	}

	/** The policy's own failure mode, and those of its tiers. */
	private static Set<FailureMode> modes(Policy policy) {
		Set<FailureMode> modes = EnumSet.of(policy.settings().onFailure());
		policy.settings().tiers().values().stream().map(Tier::onFailure).filter(Objects::nonNull).forEach(modes::add);
		return modes;
	}

	private static boolean isLeased(Policy policy) {
		Enforcement general = policy.settings().enforcement();
		return policy.limits()
			.stream()
			.map((limit) -> (limit.enforcement() != null) ? limit.enforcement() : general)
			.anyMatch((enforcement) -> enforcement != Enforcement.STRICT);
	}

}
