package dev.ratelimit.policy;

import java.time.InstantSource;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;

/**
 * Changes some of a snapshot's policies and makes another one. For one thread.
 */
public final class PolicySetBuilder {

	private final PolicyTable policies;

	private AccessList allow;

	private AccessList deny;

	private final Records records;

	private final InstantSource clock;

	private boolean built;

	PolicySetBuilder(PolicyTable policies, AccessList allow, AccessList deny, Records records, InstantSource clock) {
		this.policies = policies;
		this.allow = allow;
		this.deny = deny;
		this.records = records;
		this.clock = clock;
	}

	/**
	 * Puts a version in force that has none before it.
	 */
	public PolicySetBuilder put(Policy policy) {
		return put(policy, null);
	}

	/**
	 * Puts a version in force.
	 * @param policy the newest version
	 * @param previous the one that still holds where the newest does not: for callers
	 * outside its rollout, before it starts, and for all while it is in shadow
	 */
	public PolicySetBuilder put(Policy policy, @Nullable Policy previous) {
		if (previous != null && !previous.id().equals(policy.id())) {
			throw new IllegalArgumentException(
					"policy '" + previous.id() + "' is no earlier version of '" + policy.id() + "'");
		}
		PolicyVersions before = this.policies.get(policy.id());
		if (before == null || !before.isOf(policy, previous)) {
			this.policies
				.put(new PolicyVersions(policy, previous, before, this.records.windows(policy.id()), this.clock));
		}
		return this;
	}

	/**
	 * Forgets a policy: there is none of this name from now on.
	 */
	public PolicySetBuilder remove(String id) {
		this.policies.remove(id);
		return this;
	}

	/**
	 * Marks a policy as gone, but lets the last that is known of it decide the requests
	 * that still name it.
	 */
	public PolicySetBuilder retire(String id) {
		PolicyVersions versions = this.policies.get(id);
		if (versions != null) {
			this.policies.put(versions.retire());
		}
		return this;
	}

	/**
	 * Replaces the lists that come with the configuration.
	 */
	public PolicySetBuilder lists(AccessList allow, AccessList deny) {
		this.allow = allow;
		this.deny = deny;
		return this;
	}

	/**
	 * Makes the snapshot, once.
	 */
	public PolicySet build() {
		if (this.built) {
			throw new IllegalStateException("a snapshot was made already, and it must not change");
		}
		this.built = true;
		return new PolicySet(this.policies, this.allow, this.deny, this.records, this.clock);
	}

}
