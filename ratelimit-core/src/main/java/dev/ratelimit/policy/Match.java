package dev.ratelimit.policy;

import java.util.List;

import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.counter.CounterSpec;

/**
 * A policy as it applies to one caller.
 *
 * @param policy the policy
 * @param specs how its limits count for this caller, in their order
 * @param onFailure what answers when the counters cannot
 */
public record Match(Policy policy, List<CounterSpec> specs, FailureMode onFailure) {
}
