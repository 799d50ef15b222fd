package dev.ratelimit.policy;

import java.time.InstantSource;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;

/**
 * Builds a new snapshot from an existing one. Not thread-safe.
 */
public final class PolicySetBuilder {

	private final PolicyTable policies;

	private AccessList allow;

	private AccessList deny;

	private final CallerRecords records;

	private final InstantSource clock;

	private boolean built;

	PolicySetBuilder(PolicyTable policies, AccessList allow, AccessList deny, CallerRecords records,
			InstantSource clock) {
		this.policies = policies;
		this.allow = allow;
		this.deny = deny;
		this.records = records;
		this.clock = clock;
	}

	/**
	 * Puts a version in force, without a previous one.
	 */
	public PolicySetBuilder put(Policy policy) {
		return put(policy, null);
	}

	/**
	 * Puts a version in force.
	 * @param policy the newest version
	 * @param previous the version that decides where the newest does not: callers outside
	 * the rollout, all callers before the start time, and all callers during a trial
	 */
	public PolicySetBuilder put(Policy policy, @Nullable Policy previous) {
		if (previous != null && !previous.id().equals(policy.id())) {
			throw new IllegalArgumentException(
					"policy '" + previous.id() + "' is not an earlier version of '" + policy.id() + "'");
		}
		PolicyVersions before = this.policies.get(policy.id());
		if (before == null || this.policies.retired().contains(policy.id()) || !before.isOf(policy, previous)) {
			this.policies
				.put(new PolicyVersions(policy, previous, before, this.records.windows(policy.id()), this.clock));
		}
		return this;
	}

	/**
	 * Marks a policy as removed. Its last known version still decides the requests that
	 * name it.
	 */
	public PolicySetBuilder retire(String id) {
		this.policies.retire(id);
		return this;
	}

	/**
	 * Replaces the configured lists.
	 */
	public PolicySetBuilder lists(AccessList allow, AccessList deny) {
		this.allow = allow;
		this.deny = deny;
		return this;
	}

	/**
	 * Builds the snapshot. Can be called once.
	 */
	public PolicySet build() {
		if (this.built) {
			throw new IllegalStateException("build() was already called, and its snapshot must not change");
		}
		this.built = true;
		return new PolicySet(this.policies, this.allow, this.deny, this.records, this.clock);
	}

}
