package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Builds a policy; settings that are not called keep their default.
 */
public final class PolicyBuilder {

	private final String id;

	private long version;

	private Algorithm algorithm = Algorithm.GCRA;

	private final List<Limit> limits = new ArrayList<>();

	private String description = "";

	private String owner = "";

	private Enforcement enforcement = Enforcement.STRICT;

	private boolean shadow;

	private FailureMode onFailure = FailureMode.ALLOW;

	private @Nullable Quota degradedFloor;

	private @Nullable Quota degradedCeiling;

	private MissingIdentity onMissingIdentity = MissingIdentity.IP;

	private @Nullable Duration timeout;

	private final Map<String, Long> costs = new HashMap<>();

	private final Map<String, Tier> tiers = new HashMap<>();

	private final List<PolicyOverride> overrides = new ArrayList<>();

	private Rollout rollout = Rollout.COMPLETE;

	private @Nullable Penalty penalty;

	private @Nullable Settling settling;

	private @Nullable Idempotency idempotency;

	PolicyBuilder(String id) {
		this.id = id;
	}

	public PolicyBuilder version(long version) {
		this.version = version;
		return this;
	}

	public PolicyBuilder algorithm(Algorithm algorithm) {
		this.algorithm = algorithm;
		return this;
	}

	public PolicyBuilder limit(Limit limit) {
		this.limits.add(limit);
		return this;
	}

	public PolicyBuilder limit(String name, List<Dimension> by, String... quotas) {
		return limit(Limit.of(name, by, quotas));
	}

	public PolicyBuilder description(String description) {
		this.description = description;
		return this;
	}

	public PolicyBuilder owner(String owner) {
		this.owner = owner;
		return this;
	}

	public PolicyBuilder enforcement(Enforcement enforcement) {
		this.enforcement = enforcement;
		return this;
	}

	public PolicyBuilder shadow(boolean shadow) {
		this.shadow = shadow;
		return this;
	}

	public PolicyBuilder onFailure(FailureMode mode) {
		this.onFailure = mode;
		return this;
	}

	public PolicyBuilder degradedFloor(@Nullable Quota quota) {
		this.degradedFloor = quota;
		return this;
	}

	public PolicyBuilder degradedCeiling(@Nullable Quota quota) {
		this.degradedCeiling = quota;
		return this;
	}

	public PolicyBuilder onMissingIdentity(MissingIdentity missing) {
		this.onMissingIdentity = missing;
		return this;
	}

	public PolicyBuilder timeout(@Nullable Duration timeout) {
		this.timeout = timeout;
		return this;
	}

	public PolicyBuilder cost(String pathPattern, long cost) {
		this.costs.put(pathPattern, cost);
		return this;
	}

	public PolicyBuilder tier(String name, Tier tier) {
		this.tiers.put(name, tier);
		return this;
	}

	public PolicyBuilder override(PolicyOverride override) {
		this.overrides.add(override);
		return this;
	}

	public PolicyBuilder rollout(Rollout rollout) {
		this.rollout = rollout;
		return this;
	}

	public PolicyBuilder penalty(@Nullable Penalty penalty) {
		this.penalty = penalty;
		return this;
	}

	/**
	 * Lets requests be settled: their cost is an estimate, which is corrected afterwards.
	 */
	public PolicyBuilder settling(@Nullable Settling settling) {
		this.settling = settling;
		return this;
	}

	/**
	 * Lets retries of an admitted request pass without being counted.
	 */
	public PolicyBuilder idempotency(@Nullable Idempotency idempotency) {
		this.idempotency = idempotency;
		return this;
	}

	public Policy build() {
		return new Policy(this.id, this.version, this.algorithm, this.limits,
				new Policy.Settings(this.description, this.owner, this.enforcement, this.shadow, this.onFailure,
						this.degradedFloor, this.degradedCeiling, this.onMissingIdentity, this.timeout, this.costs,
						this.tiers, this.overrides, this.rollout, this.penalty, this.settling, this.idempotency));
	}

}
