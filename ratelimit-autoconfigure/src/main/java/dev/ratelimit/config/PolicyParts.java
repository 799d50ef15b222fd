package dev.ratelimit.config;

import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Idempotency;
import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Rollout;
import dev.ratelimit.Settling;

/**
 * Maps the parts of a policy that are optional: how its costs are settled, how a version
 * is rolled out, how offenders are penalised and how retries are recognised.
 */
final class PolicyParts {

	private PolicyParts() {
	}

	static @Nullable Settling settling(String at, String id, PolicyProperties.@Nullable Cost cost) {
		if (cost == null) {
			return null;
		}
		Long estimate = cost.estimate();
		if (estimate == null && cost.settleHeader() == null && cost.settleJson().isEmpty()
				&& cost.settleStatus().isEmpty()) {
			throw new InvalidPolicyException(at + ".cost", "The cost of policy '" + id + "' sets nothing.",
					"Set '" + at
							+ ".cost.estimate' and one of settle-header, settle-json and settle-status, or remove '"
							+ at + ".cost'.");
		}
		return PolicyMapper.checked(at + ".cost",
				"Set '" + at + ".cost.estimate' to a number of permits, '" + at
						+ ".cost.settle-header' to the name of a header, '" + at
						+ ".cost.settle-json' to paths such as usage.total_tokens, and '" + at
						+ ".cost.settle-status' to costs by status, such as 5xx: 0.",
				() -> new Settling((estimate != null) ? estimate : 1, cost.settleHeader(), cost.settleJson(),
						cost.settleStatus()));
	}

	static Rollout rollout(String at, PolicyProperties.@Nullable Rollout rollout) {
		return (rollout == null) ? Rollout.COMPLETE
				: PolicyMapper.checked(at + ".rollout",
						"Set '" + at + ".rollout.percent' to 0 to 100, '" + at + ".rollout.stages' to rising "
								+ "percentages such as [1, 10, 100], '" + at + ".rollout.hold' to at least 1s, and '"
								+ at + ".rollout.expect-refusals' to 0 to 100.",
						() -> new Rollout(rollout.percent(), rollout.validFrom(), rollout.stages(), rollout.hold(),
								rollout.expectRefusals()));
	}

	static @Nullable Penalty penalty(String at, String id, List<Limit> limits,
			PolicyProperties.@Nullable Penalty penalty) {
		if (penalty == null) {
			return null;
		}
		String here = at + ".penalty";
		if (limits.stream().noneMatch(Limit::penalises)) {
			throw new InvalidPolicyException(here,
					"Policy '" + id
							+ "' has a penalty but no limit by user, api-key or ip, and only such limits penalise.",
					"Add such a limit under '" + at + ".limits', or remove '" + here + "'.");
		}
		return PolicyMapper.checked(here,
				"Set '" + here + ".after' to at least 1, '" + here + ".cool-down', '" + here + ".max' and '" + here
						+ ".ban-for' to 1s to 31d, and '" + here + ".max' to at least the cool-down.",
				() -> new Penalty(penalty.after(), penalty.coolDown(), penalty.max(),
						(penalty.banAfter() != null) ? penalty.banAfter() : 0, penalty.banFor(),
						(penalty.closeAfter() != null) ? penalty.closeAfter() : 0));
	}

	static @Nullable Idempotency idempotency(String at, PolicyProperties.@Nullable Idempotency idempotency) {
		String here = at + ".idempotency";
		return (idempotency == null) ? null
				: PolicyMapper.checked(here,
						"Set '" + here + ".header' to the name of a header, '" + here + ".ttl' to 1s to 1d, and '"
								+ here + ".max-replays' to 1 to 100.",
						() -> new Idempotency(idempotency.header(), idempotency.ttl(), idempotency.maxReplays()));
	}

	/** No caller gets a version in shadow, so it could never reach its first stage. */
	static void requireNoStagesInShadow(String at, String id, boolean shadow, Rollout rollout) {
		if (shadow && !rollout.stages().isEmpty()) {
			throw new InvalidPolicyException(at + ".rollout.stages",
					"Policy '" + id + "' is in shadow and has rollout stages.",
					"Remove '" + at + ".rollout.stages', or set '" + at + ".mode' to enforce.");
		}
	}

}
