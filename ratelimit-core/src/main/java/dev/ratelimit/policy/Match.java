package dev.ratelimit.policy;

import java.util.List;

import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.counter.CounterSpec;

/**
 * A policy with the limits of one caller.
 *
 * @param policy the policy, in the version that decides this caller
 * @param specs the caller's counter specs, in the order of the limits
 * @param onFailure failure mode for this caller
 * @param shadow whether the policy only reports for this caller
 * @param owner owner of the counters: the policy id for all versions; a trial has an
 * owner of its own
 */
public record Match(Policy policy, List<CounterSpec> specs, FailureMode onFailure, boolean shadow, String owner) {

	Match with(List<CounterSpec> specs) {
		return new Match(this.policy, specs, this.onFailure, this.shadow, this.owner);
	}

}
