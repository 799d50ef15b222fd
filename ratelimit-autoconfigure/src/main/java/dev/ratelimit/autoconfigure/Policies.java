package dev.ratelimit.autoconfigure;

import java.util.function.Supplier;

import dev.ratelimit.policy.PolicySet;

/**
 * The policies in force: a snapshot that is replaced as a whole.
 */
public final class Policies implements Supplier<PolicySet> {

	private volatile PolicySet current;

	public Policies(PolicySet initial) {
		this.current = initial;
	}

	@Override
	public PolicySet get() {
		return this.current;
	}

	/**
	 * Puts another snapshot in force, for all requests that come from now on.
	 */
	public void replace(PolicySet policies) {
		this.current = policies;
	}

}
