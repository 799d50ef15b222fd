package dev.ratelimit.config;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.MissingIdentity;

/**
 * One policy in {@code application.yml}.
 *
 * @param description Purpose of the policy.
 * @param owner Team or person that is responsible for the policy.
 * @param algorithm Algorithm of the counters.
 * @param enforcement Where permits are taken: in Redis, or ahead from a lease.
 * @param mode Whether refusals are enforced or only reported.
 * @param onFailure What answers while the counters are unavailable.
 * @param degradedFloor Quota per IP while the counters are unavailable, for example 20/s.
 * @param degradedCeiling Quota for all callers together while the counters are
 * unavailable, divided by the live instances, for example 5000/s.
 * @param onMissingIdentity What happens to a request that lacks a dimension.
 * @param timeout Hard deadline of a check, at least 1ms; overrides
 * ratelimit.redis.timeout.
 * @param costs Cost of a request by path pattern, as "[/orders/export/**]"; the most
 * specific pattern wins.
 * @param limits Limits by name; a request has to pass all of them.
 * @param tiers Other quotas and another failure mode for a tier of callers, by its name.
 * @param overrides Other quotas for single callers; the override with the most dimensions
 * wins, then the last one.
 * @param rollout Which callers get a new version, and when.
 * @param penalty What happens to callers that keep sending while they are refused.
 * @param cost Estimate of a cost that is only known after the response, and where the
 * true cost is found.
 * @param idempotency How retries of an admitted request are recognised, which are not
 * counted again.
 */
public record PolicyProperties(@DefaultValue("") String description, @DefaultValue("") String owner,
		@DefaultValue("gcra") Algorithm algorithm, @DefaultValue("strict") Enforcement enforcement,
		@DefaultValue("enforce") Mode mode, @DefaultValue("allow") FailureMode onFailure,
		@Nullable String degradedFloor, @Nullable String degradedCeiling,
		@DefaultValue("ip") MissingIdentity onMissingIdentity, @Nullable Duration timeout,
		@DefaultValue Map<String, Long> costs, @DefaultValue Map<String, Limit> limits,
		@DefaultValue Map<String, Tier> tiers, @DefaultValue List<Override> overrides, @Nullable Rollout rollout,
		@Nullable Penalty penalty, @Nullable Cost cost, @Nullable Idempotency idempotency) {

	/**
	 * Whether refusals are enforced.
	 */
	public enum Mode {

		ENFORCE, SHADOW

	}

	/**
	 * One limit.
	 *
	 * @param by Dimensions whose values share a counter; an empty list is one counter for
	 * the fleet.
	 * @param quota Quotas that hold at once, for example 100/s burst 200.
	 * @param enforcement Where permits are taken; overrides the policy's.
	 * @param split Number of parts that each counter is kept in, on different slots of a
	 * cluster, each with its share of the quotas.
	 */
	public record Limit(@Nullable List<String> by, @DefaultValue List<String> quota, @Nullable Enforcement enforcement,
			@DefaultValue("1") int split) {
	}

	/**
	 * What is different for a tier of callers.
	 *
	 * @param limits Other quotas, by the name of the limit.
	 * @param onFailure Another failure mode.
	 */
	public record Tier(@DefaultValue Map<String, List<String>> limits, @Nullable FailureMode onFailure) {
	}

	/**
	 * What is different for a single caller.
	 *
	 * @param when Values that the caller must have, by dimension.
	 * @param limits Other quotas, by the name of the limit.
	 */
	public record Override(@DefaultValue Map<String, String> when, @DefaultValue Map<String, List<String>> limits) {
	}

	/**
	 * Which callers get a new version, and when.
	 *
	 * @param percent Share of callers that get it, in percent.
	 * @param validFrom Time before which it does not apply.
	 * @param stages Shares of callers, one after the other, in percent.
	 * @param hold Time between two stages, at least 1s.
	 * @param expectRefusals Percentage points by which the version refuses more on
	 * purpose; only more than that leads to a rollback.
	 */
	public record Rollout(@DefaultValue("100") int percent, @Nullable Instant validFrom,
			@DefaultValue List<Integer> stages, @DefaultValue("10m") Duration hold,
			@DefaultValue("0") int expectRefusals) {
	}

	/**
	 * What happens to callers that keep sending while they are refused.
	 *
	 * @param after Offences after which a cool-down begins, each time.
	 * @param coolDown Length of the first cool-down, at least 1s; each further one is
	 * twice as long.
	 * @param max Longest cool-down; offences are forgotten this long after the last one.
	 * @param banAfter Offences after which a caller is banned; absent, it never is.
	 * @param banFor Length of a ban, at least 1s.
	 * @param closeAfter Refusals in a row on one connection after which the gateway
	 * closes it; absent, it never does.
	 */
	public record Penalty(@DefaultValue("100") long after, @DefaultValue("10s") Duration coolDown,
			@DefaultValue("10m") Duration max, @Nullable Long banAfter, @DefaultValue("1h") Duration banFor,
			@Nullable Long closeAfter) {
	}

	/**
	 * Estimate of a cost that is only known after the response, and where the true cost
	 * is found.
	 *
	 * @param estimate Cost that is taken before the call, unless the route, the
	 * annotation or 'costs' name one; 1 if it is not set.
	 * @param settleHeader Response header or trailer that has the true cost.
	 * @param settleJson Field of the JSON body or of server-sent events that has the true
	 * cost, for example usage.total_tokens; several are summed.
	 * @param settleStatus True cost by response status, for example 404, or by class, for
	 * example 5xx.
	 */
	public record Cost(@Nullable Long estimate, @Nullable String settleHeader, @DefaultValue List<String> settleJson,
			@DefaultValue Map<String, Long> settleStatus) {
	}

	/**
	 * How retries of an admitted request are recognised, which are not counted again.
	 *
	 * @param header Request header with the id of a request; read only from a peer in
	 * ratelimit.identity.trusted-proxies.
	 * @param ttl Time after the admission within which a retry is not counted, 1s to 1d.
	 * @param maxReplays Retries that are not counted, 1 to 100; the next one is counted
	 * and recorded anew.
	 */
	public record Idempotency(@DefaultValue("X-Request-Id") String header, @DefaultValue("10m") Duration ttl,
			@DefaultValue("3") int maxReplays) {
	}

}
