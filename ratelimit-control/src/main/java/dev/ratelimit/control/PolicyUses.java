package dev.ratelimit.control;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.ratelimit.Policy;

/**
 * Finds what names a policy: routes, annotations, URL entries.
 */
@FunctionalInterface
public interface PolicyUses {

	/**
	 * Texts such as {@code route 'orders'}; empty if nothing names the policy.
	 */
	List<String> of(String policy);

	/**
	 * Checks that a policy can decide for all that names it.
	 * @throws InvalidChangeException if it cannot
	 */
	default void requireFitting(Policy policy) {
	}

	/**
	 * Several as one.
	 */
	static PolicyUses all(Supplier<Stream<PolicyUses>> each) {
		return new PolicyUses() {

			@Override
			public List<String> of(String policy) {
				return each.get().flatMap((uses) -> uses.of(policy).stream()).toList();
			}

			@Override
			public void requireFitting(Policy policy) {
				each.get().forEach((uses) -> uses.requireFitting(policy));
			}

		};
	}

}
