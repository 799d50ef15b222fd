package dev.ratelimit.control;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.ratelimit.Policy;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

/**
 * The last valid configuration, which records of the store replace.
 *
 * @param policies by id, all of version 0
 * @param rejected invalid entries, of version 0; the last valid ones stay in force
 */
public record Configuration(Map<String, Policy> policies, AccessList allow, AccessList deny, List<Rejected> rejected) {

	public Configuration {
		policies = Map.copyOf(policies);
		rejected = List.copyOf(rejected);
	}

	static Configuration of(PolicySet start) {
		Map<String, Policy> policies = start.policies()
			.stream()
			.collect(Collectors.toMap(Policy::id, Function.identity()));
		return new Configuration(policies, start.allowList(), start.denyList(), List.of());
	}

}
