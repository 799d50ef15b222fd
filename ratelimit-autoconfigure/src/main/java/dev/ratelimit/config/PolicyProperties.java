package dev.ratelimit.autoconfigure;

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
 * @param description What it is for.
 * @param owner Who is called about it.
 * @param algorithm How its counters count.
 * @param enforcement Where permits are taken.
 * @param mode Whether it is obeyed or only reported.
 * @param onFailure What answers when the counters cannot.
 * @param degradedFloor Quota per IP that holds while degraded, for example 20/s.
 * @param onMissingIdentity What happens to a request that lacks a dimension.
 * @param timeout Hard deadline of a check, at least 1ms; overrides
 * ratelimit.redis.timeout.
 * @param costs Cost of a request by path pattern, as "[/orders/export/**]"; the most
 * specific pattern wins.
 * @param limits Limits by name; a request has to pass all of them.
 * @param tiers What is different for the callers of a plan, by its name.
 * @param overrides What is different for single callers; the most dimensions win, then
 * the last.
 * @param rollout How a new version is brought to callers.
 */
@NotSupportedYet({ "cost", "idempotency", "penalty" })
public record PolicyProperties(@DefaultValue("") String description, @DefaultValue("") String owner,
		@DefaultValue("gcra") Algorithm algorithm, @DefaultValue("strict") Enforcement enforcement,
		@DefaultValue("enforce") Mode mode, @DefaultValue("allow") FailureMode onFailure,
		@Nullable String degradedFloor, @DefaultValue("ip") MissingIdentity onMissingIdentity,
		@Nullable Duration timeout, @DefaultValue Map<String, Long> costs, @DefaultValue Map<String, Limit> limits,
		@DefaultValue Map<String, Tier> tiers, @DefaultValue List<Override> overrides, @Nullable Rollout rollout) {

	/**
	 * Whether a policy is obeyed.
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
	 * What is different for the callers of a plan.
	 *
	 * @param limits Other quotas, by the name of the limit.
	 * @param onFailure Another failure mode.
	 */
	public record Tier(@DefaultValue Map<String, List<String>> limits, @Nullable FailureMode onFailure) {
	}

	/**
	 * What is different for a single caller.
	 *
	 * @param when What has to be known about the caller, by dimension.
	 * @param limits Other quotas, by the name of the limit.
	 */
	public record Override(@DefaultValue Map<String, String> when, @DefaultValue Map<String, List<String>> limits) {
	}

	/**
	 * How a new version is brought to callers.
	 *
	 * @param percent Share of callers, in percent.
	 * @param validFrom Time before which it does not apply.
	 * @param stages Shares that it goes through, in percent.
	 * @param hold Time between two stages, at least 1s.
	 */
	public record Rollout(@DefaultValue("100") int percent, @Nullable Instant validFrom,
			@DefaultValue List<Integer> stages, @DefaultValue("10m") Duration hold) {
	}

}
