package dev.ratelimit.web;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Settling;
import dev.ratelimit.policy.PolicySet;

/**
 * Whether any policy learns its true cost from a header, a trailer or a body. Without one
 * no edge has to look at responses. Looked up once for each set of policies.
 */
public final class SettledPolicies implements BooleanSupplier {

	private final Supplier<PolicySet> policies;

	private volatile @Nullable Known known;

	public SettledPolicies(Supplier<PolicySet> policies) {
		this.policies = policies;
	}

	@Override
	public boolean getAsBoolean() {
		PolicySet policies = this.policies.get();
		Known known = this.known;
		if (known == null || known.policies != policies) {
			known = new Known(policies,
					policies.ids().stream().flatMap((id) -> policies.versions(id).stream()).anyMatch((policy) -> {
						Settling settling = policy.settings().settling();
						return settling != null && (settling.header() != null || !settling.json().isEmpty());
					}));
			this.known = known;
		}
		return known.reads;
	}

	private record Known(PolicySet policies, boolean reads) {
	}

}
