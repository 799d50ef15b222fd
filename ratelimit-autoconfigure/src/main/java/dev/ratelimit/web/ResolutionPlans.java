package dev.ratelimit.web;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * What has to be found out for a policy, computed once per policy. Plans are dropped with
 * the next snapshot, so there are never more of them than policies.
 */
final class ResolutionPlans {

	static final Set<Dimension> BUILT_IN = Set.of(Dimension.USER, Dimension.TENANT, Dimension.IP, Dimension.ROUTE,
			Dimension.API_KEY, Dimension.REGION);

	private final Map<String, Plan> plans = new ConcurrentHashMap<>();

	private volatile @Nullable PolicySet latest;

	/**
	 * The plan of a policy, {@code null} if there is no such policy.
	 */
	@Nullable Plan find(PolicySet policies, String id) {
		if (policies != this.latest) {
			// Lists may have changed too, and with them what is to be found out.
			this.latest = policies;
			this.plans.clear();
		}
		Policy policy = policies.find(id);
		if (policy == null) {
			return null;
		}
		Plan plan = this.plans.get(id);
		if (plan == null || plan.policy() != policy || plan.listed() != policies.listedDimensions()) {
			plan = Plan.of(policies.versions(id), policies.listedDimensions());
			this.plans.put(id, plan);
		}
		return plan;
	}

	int size() {
		return this.plans.size();
	}

	/**
	 * What has to be found out, whichever version turns out to be for the caller.
	 *
	 * @param policy whose plan it is, in its newest version
	 * @param listed the dimensions that lists and records are about
	 * @param custom dimensions that only a resolver knows
	 * @param costs what paths cost, {@code null} if all cost one
	 * @param previous the same of the version before it, {@code null} if only one is in
	 * force
	 */
	record Plan(Policy policy, Set<Dimension> listed, List<Dimension> custom, @Nullable CostPatterns costs,
			@Nullable Plan previous) {

		/**
		 * What a call costs.
		 * @param version the version that is for the caller, asked for if it matters
		 */
		long cost(String rawPath, Supplier<@Nullable Match> version) {
			if (this.previous != null) {
				Match match = version.get();
				if (match != null && match.policy().version() == this.previous.policy().version()) {
					return this.previous.cost(rawPath, version);
				}
			}
			return (this.costs != null) ? this.costs.cost(rawPath) : 1;
		}

		static Plan of(List<Policy> versions, Set<Dimension> listed) {
			Policy newest = versions.get(0);
			List<Dimension> custom = Stream.concat(versions.stream().flatMap(Plan::dimensions), listed.stream())
				.distinct()
				.filter((dimension) -> !BUILT_IN.contains(dimension))
				.toList();
			return new Plan(newest, listed, custom, PathCosts.compile(newest),
					(versions.size() > 1) ? of(versions.subList(1, versions.size()), listed) : null);
		}

		private static Stream<Dimension> dimensions(Policy policy) {
			Stream<Dimension> counted = policy.limits().stream().flatMap((limit) -> limit.by().stream());
			Stream<Dimension> overridden = policy.settings()
				.overrides()
				.stream()
				.flatMap((override) -> override.when().keySet().stream());
			return Stream.concat(counted, overridden);
		}

	}

}
