package dev.ratelimit.benchmarks.experiment;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.benchmarks.peers.Ours;

/**
 * How an instance is set up: one limit per user.
 *
 * @param uri of Redis
 * @param cluster whether it is a cluster
 * @param enforcement strict, leased or adaptive
 * @param quota of a user
 * @param split parts of a counter
 * @param onFailure allow, deny or local
 * @param instances of the fleet
 * @param deadlineMillis of a check
 * @param firstCaller added to the number of every caller, so that instances have callers
 * of their own
 */
record InstanceSpec(String uri, boolean cluster, String enforcement, String quota, int split, String onFailure,
		int instances, long deadlineMillis, int firstCaller) {

	static InstanceSpec of(String uri, String enforcement, String quota, int instances) {
		return new InstanceSpec(uri, false, enforcement, quota, 1, "allow", instances, 20, 0);
	}

	InstanceSpec withSplit(int split) {
		return new InstanceSpec(this.uri, this.cluster, this.enforcement, this.quota, split, this.onFailure,
				this.instances, this.deadlineMillis, this.firstCaller);
	}

	InstanceSpec withDeadline(long millis) {
		return new InstanceSpec(this.uri, this.cluster, this.enforcement, this.quota, this.split, this.onFailure,
				this.instances, millis, this.firstCaller);
	}

	InstanceSpec withFailureMode(String mode) {
		return new InstanceSpec(this.uri, this.cluster, this.enforcement, this.quota, this.split, mode, this.instances,
				this.deadlineMillis, this.firstCaller);
	}

	InstanceSpec withFirstCaller(int first) {
		return new InstanceSpec(this.uri, this.cluster, this.enforcement, this.quota, this.split, this.onFailure,
				this.instances, this.deadlineMillis, first);
	}

	InstanceSpec inCluster() {
		return new InstanceSpec(this.uri, true, this.enforcement, this.quota, this.split, this.onFailure,
				this.instances, this.deadlineMillis, this.firstCaller);
	}

	Policy policy() {
		return Policy.builder(Ours.POLICY)
			.enforcement(Enforcement.valueOf(this.enforcement.toUpperCase(Locale.ROOT)))
			.onFailure(FailureMode.valueOf(this.onFailure.toUpperCase(Locale.ROOT)))
			.limit(Limit.of("per-user", List.of(Dimension.USER), this.quota).withSplit(this.split))
			.build();
	}

	Ours.Options options() {
		return new Ours.Options(Duration.ofMillis(this.deadlineMillis), this.instances, this.cluster);
	}

}
