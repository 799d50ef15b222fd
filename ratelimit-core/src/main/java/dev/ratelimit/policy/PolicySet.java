package dev.ratelimit.policy;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;
import dev.ratelimit.counter.CounterSpec;

/**
 * The policies in force: an immutable snapshot, with all that can be computed once.
 */
public final class PolicySet {

	private final Map<String, Entry> policies;

	public PolicySet(Collection<Policy> policies) {
		this.policies = policies.stream()
			.map(Entry::new)
			.collect(Collectors.toUnmodifiableMap((entry) -> entry.policy().id(), Function.identity()));
	}

	public static PolicySet of(Policy... policies) {
		return new PolicySet(List.of(policies));
	}

	/**
	 * The policy of this id, {@code null} if there is none.
	 */
	public @Nullable Entry find(String id) {
		return this.policies.get(id);
	}

	/**
	 * A policy and how its limits count.
	 *
	 * @param policy the policy
	 * @param specs one per limit, in their order
	 */
	public record Entry(Policy policy, List<CounterSpec> specs) {

		Entry(Policy policy) {
			this(policy, policy.limits().stream().map((limit) -> new CounterSpec(policy.algorithm(), limit)).toList());
		}

	}

}
