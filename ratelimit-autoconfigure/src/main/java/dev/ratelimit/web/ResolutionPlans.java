package dev.ratelimit.web;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Policy;
import dev.ratelimit.Settling;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * The facts that each policy needs, computed once per policy. Plans are dropped with the
 * next snapshot, so there are never more of them than policies.
 */
final class ResolutionPlans {

	private volatile @Nullable Snapshot latest;

	/**
	 * The plan of a policy, {@code null} if there is no such policy.
	 */
	@Nullable Plan find(PolicySet policies, String id) {
		Snapshot snapshot = this.latest;
		Set<Dimension> recorded = policies.records().dimensions();
		if (snapshot == null || snapshot.policies != policies || snapshot.recorded != recorded) {
			snapshot = new Snapshot(policies, recorded, new ConcurrentHashMap<>());
			this.latest = snapshot;
		}
		Plan plan = snapshot.plans.get(id);
		if (plan == null && policies.find(id) != null) {
			plan = Plan.of(policies.versions(id), policies.listedDimensions());
			snapshot.plans.put(id, plan);
		}
		return plan;
	}

	int size() {
		Snapshot snapshot = this.latest;
		return (snapshot != null) ? snapshot.plans.size() : 0;
	}

	/**
	 * The plans of one snapshot of policies.
	 *
	 * @param recorded dimensions in its records, which change while the lists stay
	 */
	private record Snapshot(PolicySet policies, Set<Dimension> recorded, Map<String, Plan> plans) {
	}

	/**
	 * The facts that a policy needs, whichever version decides the caller.
	 *
	 * @param policy the policy in its newest version
	 * @param custom dimensions that need a resolver
	 * @param listsKeys whether a list or a record names API keys
	 * @param costs costs of paths, {@code null} if all cost the same
	 * @param previous plan of the version before, {@code null} if only one is in force
	 */
	record Plan(Policy policy, List<Dimension> custom, boolean listsKeys, @Nullable CostPatterns costs,
			@Nullable Plan previous) {

		/**
		 * The header with the id of a request, {@code null} if every request is counted.
		 * While two versions are in force, it is that of the newest one that has one.
		 */
		@Nullable String idempotencyHeader() {
			Idempotency idempotency = this.policy.settings().idempotency();
			return (idempotency != null) ? idempotency.header()
					: (this.previous != null) ? this.previous.idempotencyHeader() : null;
		}

		/**
		 * The cost of a call.
		 * @param version finds the version that decides the caller; only called if two
		 * are in force
		 */
		long cost(String rawPath, Supplier<@Nullable Match> version) {
			if (this.previous != null) {
				Match match = version.get();
				if (match != null && match.policy().version() == this.previous.policy().version()) {
					return this.previous.cost(rawPath, version);
				}
			}
			return (this.costs != null) ? this.costs.cost(rawPath) : estimate(this.policy);
		}

		/**
		 * Whether the cost of a call that names none may be another one than 1.
		 */
		boolean hasCosts() {
			return this.costs != null || this.previous != null || this.policy.settings().settling() != null;
		}

		static long estimate(Policy policy) {
			Settling settling = policy.settings().settling();
			return (settling != null) ? settling.estimate() : 1;
		}

		static Plan of(List<Policy> versions, Set<Dimension> listed) {
			Policy newest = versions.get(0);
			List<Dimension> custom = Stream.concat(versions.stream().flatMap(Plan::dimensions), listed.stream())
				.distinct()
				.filter((dimension) -> !Dimension.BUILT_IN.contains(dimension))
				.toList();
			return new Plan(newest, custom, listed.contains(Dimension.API_KEY), PathCosts.compile(newest),
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
