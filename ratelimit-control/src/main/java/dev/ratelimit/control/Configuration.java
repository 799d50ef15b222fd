package dev.ratelimit.control;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.ratelimit.Policy;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

/**
 * What the configuration says, in its last good state: the base that is below what is
 * edited at run time.
 *
 * @param policies by id, all of version 0
 * @param allow who is never limited
 * @param deny who is always turned away
 * @param rejected what cannot be meant, of version 0; what was before it is in its place
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
