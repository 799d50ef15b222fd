package dev.ratelimit.policy;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;

/**
 * All that decides requests, as an immutable snapshot: the policies and the lists.
 */
public final class PolicySet {

	private final Map<String, CompiledPolicy> policies;

	private final AccessList allow;

	private final AccessList deny;

	private final Set<Dimension> listed;

	/**
	 * Creates a snapshot.
	 * @param policies with distinct ids
	 * @param allow who is never limited
	 * @param deny who is always turned away; beats the allow-list
	 */
	public PolicySet(Collection<Policy> policies, AccessList allow, AccessList deny) {
		this.policies = policies.stream().collect(Collectors.toUnmodifiableMap(Policy::id, CompiledPolicy::new));
		this.allow = allow;
		this.deny = deny;
		this.listed = Stream.of(allow, deny)
			.flatMap((list) -> list.dimensions().stream())
			.collect(Collectors.toUnmodifiableSet());
	}

	public static PolicySet of(Policy... policies) {
		return new PolicySet(List.of(policies), AccessList.EMPTY, AccessList.EMPTY);
	}

	/**
	 * The policy that a request names as it applies to its caller, {@code null} if there
	 * is none.
	 */
	public @Nullable Match match(Request request) {
		CompiledPolicy policy = this.policies.get(request.policy());
		return (policy != null) ? policy.match(request) : null;
	}

	/**
	 * Whether the caller is on the allow-list, by verified facts only.
	 */
	public boolean allows(Request request) {
		return this.allow.matches(request::verified);
	}

	/**
	 * Whether the caller is on the deny-list, by whatever it claims.
	 */
	public boolean denies(Request request) {
		return this.deny.matches(request.dimensions()::get);
	}

	/**
	 * The dimensions that the lists are about: a request that does not have them matches
	 * no entry.
	 */
	public Set<Dimension> listedDimensions() {
		return this.listed;
	}

	public @Nullable Policy find(String id) {
		CompiledPolicy policy = this.policies.get(id);
		return (policy != null) ? policy.policy() : null;
	}

	public Set<String> ids() {
		return this.policies.keySet();
	}

	/**
	 * All policies, in no particular order.
	 */
	public List<Policy> policies() {
		return this.policies.values().stream().map(CompiledPolicy::policy).toList();
	}

}
