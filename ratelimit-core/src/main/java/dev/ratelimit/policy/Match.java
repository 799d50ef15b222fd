package dev.ratelimit.policy;

import java.util.List;

import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.counter.CounterSpec;

/**
 * A policy as it applies to one caller.
 *
 * @param policy the policy, in the version that is for this caller
 * @param specs how its limits count for this caller, in their order
 * @param onFailure what answers when the counters cannot
 * @param shadow whether it is only reported for this caller
 * @param owner what its counters belong to: the policy, whichever version it is, unless
 * the version counts beside another one
 */
public record Match(Policy policy, List<CounterSpec> specs, FailureMode onFailure, boolean shadow, String owner) {

	Match with(List<CounterSpec> specs) {
		return new Match(this.policy, specs, this.onFailure, this.shadow, this.owner);
	}

}
