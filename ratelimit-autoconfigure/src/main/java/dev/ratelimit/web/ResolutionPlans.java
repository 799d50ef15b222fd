package dev.ratelimit.web;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
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
		if (plan == null || plan.policy() != policy) {
			plan = Plan.of(policy, policies.listedDimensions());
			this.plans.put(id, plan);
		}
		return plan;
	}

	int size() {
		return this.plans.size();
	}

	/**
	 * What has to be found out.
	 *
	 * @param policy whose plan it is
	 * @param custom dimensions that only a resolver knows
	 * @param costs what paths cost, {@code null} if all cost one
	 */
	record Plan(Policy policy, List<Dimension> custom, @Nullable CostPatterns costs) {

		long cost(String rawPath) {
			return (this.costs != null) ? this.costs.cost(rawPath) : 1;
		}

		static Plan of(Policy policy, Set<Dimension> listed) {
			Stream<Dimension> counted = policy.limits().stream().flatMap((limit) -> limit.by().stream());
			Stream<Dimension> overridden = policy.settings()
				.overrides()
				.stream()
				.flatMap((override) -> override.when().keySet().stream());
			List<Dimension> custom = Stream.of(counted, overridden, listed.stream())
				.flatMap(Function.identity())
				.distinct()
				.filter((dimension) -> !BUILT_IN.contains(dimension))
				.toList();
			// Without costs nothing of Spring's path patterns is needed, nor need it be
			// there.
			return new Plan(policy, custom, policy.settings().costs().isEmpty() ? null : CostPatterns.of(policy));
		}

	}

}
