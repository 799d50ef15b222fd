package dev.ratelimit.gateway;

import java.util.List;
import java.util.function.Supplier;

import dev.ratelimit.Policy;
import dev.ratelimit.policy.PolicySet;

/**
 * Own policies with the allow- and deny-list in force. The policies are compiled once,
 * because remembered refusals belong to a compiled policy. Their counters are their own:
 * the policies of two routes have one id, but no counter in common.
 */
final class ListedPolicy implements Supplier<PolicySet> {

	private final Supplier<PolicySet> inForce;

	private final List<Policy> policies;

	private volatile PolicySet own;

	ListedPolicy(Supplier<PolicySet> inForce, Policy... policies) {
		this.inForce = inForce;
		this.policies = List.of(policies);
		this.own = with(inForce.get());
	}

	@Override
	public PolicySet get() {
		PolicySet inForce = this.inForce.get();
		PolicySet own = this.own;
		if (own.records() != inForce.records()) {
			own = with(inForce);
			this.own = own;
		}
		else if (own.allowList() != inForce.allowList() || own.denyList() != inForce.denyList()) {
			own = own.mutate().lists(inForce.allowList(), inForce.denyList()).build();
			this.own = own;
		}
		return own;
	}

	private PolicySet with(PolicySet inForce) {
		return PolicySet.apart(this.policies, inForce.allowList(), inForce.denyList(), inForce.records());
	}

}
