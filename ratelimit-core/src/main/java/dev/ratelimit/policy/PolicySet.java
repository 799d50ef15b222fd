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
 * Everything that decides requests: an immutable snapshot of the policies and lists, and
 * the records about single callers, which change independently.
 */
public final class PolicySet {

	private final PolicyTable policies;

	private final AccessList allow;

	private final AccessList deny;

	private final CallerRecords records;

	private final InstantSource clock;

	private final boolean comparing;

	private final Set<Dimension> configured;

	private volatile Listed listed;

	/**
	 * Creates a snapshot without records.
	 * @param policies with distinct ids
	 * @param allow callers that are never limited
	 * @param deny callers that are always refused; takes precedence over the allow-list
	 */
	public PolicySet(Collection<Policy> policies, AccessList allow, AccessList deny) {
		this(policies, allow, deny, new CallerRecords(), InstantSource.system());
	}

	/**
	 * @param policies with distinct ids
	 * @param allow callers that are never limited
	 * @param deny callers that are always refused; takes precedence over the allow-list
	 * @param records records about single callers, written at run time
	 * @param clock clock for the start times of versions
	 */
	public PolicySet(Collection<Policy> policies, AccessList allow, AccessList deny, CallerRecords records,
			InstantSource clock) {
		this(PolicyTable.of(policies.stream()
			.map((policy) -> new PolicyVersions(policy, null, null, records.windows(policy.id()), clock))
			.toList()), allow, deny, records, clock);
	}

	/**
	 * Creates a snapshot of compiled policies.
	 * @param policies must not change after this call
	 */
	PolicySet(PolicyTable policies, AccessList allow, AccessList deny, CallerRecords records, InstantSource clock) {
		this.policies = policies;
		this.allow = allow;
		this.deny = deny;
		this.records = records;
		this.clock = clock;
		this.comparing = policies.comparing();
		this.configured = Stream.of(allow, deny)
			.flatMap((list) -> list.entries().dimensions().stream())
			.collect(Collectors.toUnmodifiableSet());
		this.listed = new Listed(Set.of(), this.configured);
	}

	/**
	 * A snapshot of policies that share no counters with other policies of the same id
	 * and the same records. There must be no override records for its policies.
	 */
	public static PolicySet apart(Collection<Policy> policies, AccessList allow, AccessList deny,
			CallerRecords records) {
		InstantSource clock = InstantSource.system();
		return new PolicySet(PolicyTable.of(policies.stream()
			.map((policy) -> new PolicyVersions(policy, null, null, new PolicyWindows(), clock))
			.toList()), allow, deny, records, clock);
	}

	public static PolicySet of(Policy... policies) {
		return new PolicySet(List.of(policies), AccessList.EMPTY, AccessList.EMPTY);
	}

	/**
	 * Starts another snapshot from this one. Unchanged policies are not compiled again.
	 */
	public PolicySetBuilder mutate() {
		return new PolicySetBuilder(this.policies.copy(), this.allow, this.deny, this.records, this.clock);
	}

	/**
	 * The policy that a request names, with the version and limits of its caller;
	 * {@code null} if there is no such policy.
	 */
	public @Nullable Match match(Request request) {
		PolicyVersions policy = this.policies.get(request.policy());
		return (policy != null) ? policy.versionFor(request).match(request, this.records) : null;
	}

	/**
	 * The same without the tighter quotas that the caller's tenant chose.
	 */
	public @Nullable Match granted(Request request) {
		PolicyVersions policy = this.policies.get(request.policy());
		return (policy != null) ? policy.versionFor(request).granted(request, this.records) : null;
	}

	/**
	 * The trial of the policy that a request names; {@code null} if there is none, which
	 * is the usual case.
	 */
	public @Nullable Match trial(Request request) {
		PolicyVersions policy = this.comparing ? this.policies.get(request.policy()) : null;
		return (policy != null) ? policy.trial(request, this.records) : null;
	}

	/**
	 * Both versions of the policy that a request names, to compare them in counters of
	 * their own; {@code null} if they are not compared for its caller.
	 */
	public @Nullable VersionPair pair(Request request) {
		PolicyVersions policy = this.comparing ? this.policies.get(request.policy()) : null;
		return (policy != null) ? policy.pair(request, this.records) : null;
	}

	/**
	 * The bucket of a caller in comparisons of the policy that a request names.
	 */
	public int bucket(Request request) {
		PolicyVersions policy = this.policies.get(request.policy());
		return (policy != null) ? policy.bucket(request) : 0;
	}

	/**
	 * The comparison of two versions of a policy, {@code null} if only one is in force.
	 */
	public @Nullable Comparison comparison(String id) {
		PolicyVersions policy = this.comparing ? this.policies.get(id) : null;
		return (policy != null) ? policy.comparison() : null;
	}

	/**
	 * Whether the caller is on the allow-list. Only verified facts match.
	 */
	public boolean allows(Request request) {
		return !listedDimensions().isEmpty()
				&& (this.allow.entries().matches(request, Facts.VERIFIED) || this.records.allows(request));
	}

	/**
	 * Whether the caller is on the deny-list. Unverified facts match too.
	 */
	public boolean denies(Request request) {
		return !listedDimensions().isEmpty()
				&& (this.deny.entries().matches(request, Facts.ALL) || this.records.denies(request));
	}

	/**
	 * The configured allow-list.
	 */
	public AccessList allowList() {
		return this.allow;
	}

	/**
	 * The configured deny-list.
	 */
	public AccessList denyList() {
		return this.deny;
	}

	/**
	 * The dimensions that lists and records name. A request without any of them matches
	 * no list entry and no record. The same object until a dimension is added.
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

	public CallerRecords records() {
		return this.records;
	}

	/**
	 * Checks that one counter can keep the windows of all callers: of these versions of a
	 * policy and of the existing records.
	 * @param previous the previous version if it still decides some callers, else
	 * {@code null}
	 * @throws IllegalArgumentException if they do not fit; the message names the windows
	 * and the fix
	 */
	public void requireWindows(Policy newest, @Nullable Policy previous) {
		this.records.windows(newest.id()).require((previous != null) ? List.of(newest, previous) : List.of(newest));
	}

	/**
	 * Checks the same for a new record about a caller.
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
	 * The versions of a policy in force, the newest first: two during a rollout or a
	 * trial, otherwise one; none if there is no such policy.
	 */
	public List<Policy> versions(String id) {
		PolicyVersions policy = this.policies.get(id);
		return (policy != null) ? policy.live() : List.of();
	}

	/**
	 * Ids of removed policies that still decide the requests that name them.
	 */
	public Set<String> retired() {
		return Set.copyOf(this.policies.retired());
	}

	public Set<String> ids() {
		return this.policies.stream().map((policy) -> policy.newest().id()).collect(Collectors.toUnmodifiableSet());
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
