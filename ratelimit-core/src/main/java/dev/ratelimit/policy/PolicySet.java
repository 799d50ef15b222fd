package dev.ratelimit.policy;

import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;

/**
 * All that decides requests: the policies and the lists as an immutable snapshot, and the
 * records about single callers, which change by themselves.
 */
public final class PolicySet {

	private final PolicyTable policies;

	private final AccessList allow;

	private final AccessList deny;

	private final Records records;

	private final InstantSource clock;

	private final boolean comparing;

	private final Set<Dimension> configured;

	private volatile Listed listed;

	/**
	 * Creates a snapshot without records.
	 * @param policies with distinct ids
	 * @param allow who is never limited
	 * @param deny who is always turned away; beats the allow-list
	 */
	public PolicySet(Collection<Policy> policies, AccessList allow, AccessList deny) {
		this(policies, allow, deny, new Records(), InstantSource.system());
	}

	/**
	 * Creates a snapshot.
	 * @param policies with distinct ids
	 * @param allow who is never limited
	 * @param deny who is always turned away; beats the allow-list
	 * @param records what is said about single callers at run time
	 * @param clock tells when a version starts
	 */
	public PolicySet(Collection<Policy> policies, AccessList allow, AccessList deny, Records records,
			InstantSource clock) {
		this(PolicyTable.of(policies.stream()
			.map((policy) -> new PolicyVersions(policy, null, null, records.windows(policy.id()), clock))
			.toList()), allow, deny, records, clock);
	}

	/**
	 * Creates a snapshot of what is compiled.
	 * @param policies not changed by anybody any more
	 */
	PolicySet(PolicyTable policies, AccessList allow, AccessList deny, Records records, InstantSource clock) {
		this.policies = policies;
		this.allow = allow;
		this.deny = deny;
		this.records = records;
		this.clock = clock;
		this.comparing = policies.comparing();
		this.configured = Stream.of(allow, deny)
			.flatMap((list) -> list.dimensions().stream())
			.collect(Collectors.toUnmodifiableSet());
		this.listed = new Listed(Set.of(), this.configured);
	}

	public static PolicySet of(Policy... policies) {
		return new PolicySet(List.of(policies), AccessList.EMPTY, AccessList.EMPTY);
	}

	/**
	 * Makes another snapshot of this one. What is not changed is not compiled again.
	 */
	public PolicySetBuilder mutate() {
		return new PolicySetBuilder(this.policies.copy(), this.allow, this.deny, this.records, this.clock);
	}

	/**
	 * The policy that a request names as it applies to its caller, in the version that is
	 * for this caller; {@code null} if there is none.
	 */
	public @Nullable Match match(Request request) {
		PolicyVersions policy = this.policies.get(request.policy());
		return (policy != null) ? policy.match(request, this.records) : null;
	}

	/**
	 * The same as operators want it, without what the caller's tenant has given itself.
	 */
	public @Nullable Match granted(Request request) {
		PolicyVersions policy = this.policies.get(request.policy());
		return (policy != null) ? policy.granted(request, this.records) : null;
	}

	/**
	 * Another version of the policy that a request names, which is tried out beside the
	 * one that decides; {@code null} as a rule.
	 */
	public @Nullable Match beside(Request request) {
		PolicyVersions policy = this.comparing ? this.policies.get(request.policy()) : null;
		return (policy != null) ? policy.beside(request, this.records) : null;
	}

	/**
	 * How two versions of a policy compare, {@code null} if only one is in force.
	 */
	public @Nullable Comparison comparison(String id) {
		PolicyVersions policy = this.comparing ? this.policies.get(id) : null;
		return (policy != null) ? policy.comparison() : null;
	}

	/**
	 * Whether the caller is on the allow-list, by verified facts only.
	 */
	public boolean allows(Request request) {
		return (!this.allow.isEmpty() && this.allow.matches(request::verified)) || this.records.allows(request);
	}

	/**
	 * Whether the caller is on the deny-list, by whatever it claims.
	 */
	public boolean denies(Request request) {
		return (!this.deny.isEmpty() && this.deny.matches(request.dimensions()::get)) || this.records.denies(request);
	}

	/**
	 * The allow-list that comes with the configuration.
	 */
	public AccessList allowList() {
		return this.allow;
	}

	/**
	 * The deny-list that comes with the configuration.
	 */
	public AccessList denyList() {
		return this.deny;
	}

	/**
	 * The dimensions that lists and records are about: a request that does not have them
	 * matches none. The same object until one is added.
	 */
	public Set<Dimension> listedDimensions() {
		Listed listed = this.listed;
		Set<Dimension> recorded = this.records.dimensions();
		if (listed.recorded() != recorded) {
			Set<Dimension> all = new HashSet<>(this.configured);
			all.addAll(recorded);
			listed = new Listed(recorded, Set.copyOf(all));
			this.listed = listed;
		}
		return listed.all();
	}

	/**
	 * What is said about single callers at run time.
	 */
	public Records records() {
		return this.records;
	}

	/**
	 * Checks that one counter can keep the windows of all callers, once versions of a
	 * policy are in force beside the records there are.
	 * @param previous the version that still holds for some, {@code null} if for nobody
	 * @throws IllegalArgumentException naming the windows that do not fit, and the fix
	 */
	public void requireWindows(Policy newest, @Nullable Policy previous) {
		this.records.windows(newest.id()).require((previous != null) ? List.of(newest, previous) : List.of(newest));
	}

	/**
	 * Checks the same for a record about a caller.
	 * @param policy id of the policy
	 * @param limits the quotas, by the name of the limit
	 */
	public void requireWindows(String policy, Map<String, List<Quota>> limits) {
		this.records.windows(policy).require(limits);
	}

	/**
	 * The newest version of a policy.
	 */
	public @Nullable Policy find(String id) {
		PolicyVersions policy = this.policies.get(id);
		return (policy != null) ? policy.newest() : null;
	}

	/**
	 * The versions of a policy that are in force, the newest first: two during a rollout
	 * or a trial, none if there is no such policy.
	 */
	public List<Policy> versions(String id) {
		PolicyVersions policy = this.policies.get(id);
		return (policy != null) ? policy.live() : List.of();
	}

	/**
	 * The policies that are gone but still decide requests that name them.
	 */
	public Set<String> retired() {
		return this.policies.stream()
			.filter(PolicyVersions::retired)
			.map((policy) -> policy.newest().id())
			.collect(Collectors.toUnmodifiableSet());
	}

	public Set<String> ids() {
		return this.policies.ids();
	}

	/**
	 * The newest versions of all policies, in no particular order.
	 */
	public List<Policy> policies() {
		return this.policies.stream().map(PolicyVersions::newest).toList();
	}

	private record Listed(Set<Dimension> recorded, Set<Dimension> all) {
	}

}
