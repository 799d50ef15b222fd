package dev.ratelimit.policy;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;

/**
 * What is said about single callers at run time: overrides, tiers, and who is on a list.
 * Each is added and removed by itself, in the same time whatever their number, while
 * requests are decided; no policy is compiled for it. There are as many as operators
 * write.
 *
 * <p>
 * Every write carries its order, which has to be the same in all instances: of two
 * records that say something about one caller the later one holds. All are later than the
 * configuration.
 */
public final class Records {

	private final Map<String, ByDimension<OverrideRecord>> overrides = new ConcurrentHashMap<>();

	/** By policy: what its callers share. */
	private final Map<String, PolicyWindows> windows = new ConcurrentHashMap<>();

	/** By policy and tenant. */
	private final Map<String, Map<String, Tightening>> tightenings = new ConcurrentHashMap<>();

	private final ByDimension<Assignment> tiers = new ByDimension<>();

	private final ListEntries allow = new ListEntries();

	private final ListEntries deny = new ListEntries();

	private volatile Set<Dimension> dimensions = Set.of();

	/**
	 * Gives a caller other quotas under a policy.
	 * @param policy id of the policy
	 * @param dimension what is known about the caller
	 * @param value exactly
	 * @param limits the quotas, by the name of the limit; what a version of the policy
	 * has no room for is left out there
	 * @param order when this was written, as compared to other records
	 * @throws IllegalArgumentException if one counter cannot keep the windows of all
	 * @see dev.ratelimit.Policy#requireOverride
	 */
	public synchronized void putOverride(String policy, Dimension dimension, String value,
			Map<String, List<Quota>> limits, long order) {
		ByDimension<OverrideRecord> records = this.overrides.get(policy);
		OverrideRecord before = (records != null) ? records.get(dimension, value) : null;
		windows(policy).replace(dimension, (before != null) ? before.limits() : Map.of(), limits);
		named(Set.of(dimension));
		this.overrides.computeIfAbsent(policy, (id) -> new ByDimension<>())
			.put(dimension, value, new OverrideRecord(order, limits));
	}

	public synchronized void removeOverride(String policy, Dimension dimension, String value) {
		ByDimension<OverrideRecord> records = this.overrides.get(policy);
		OverrideRecord before = (records != null) ? records.get(dimension, value) : null;
		if (records != null && before != null) {
			records.remove(dimension, value);
			windows(policy).replace(dimension, before.limits(), Map.of());
			if (records.isEmpty()) {
				this.overrides.remove(policy);
			}
		}
	}

	/**
	 * What the callers of a policy share.
	 */
	PolicyWindows windows(String policy) {
		return this.windows.computeIfAbsent(policy, (id) -> new PolicyWindows());
	}

	/**
	 * Holds a tenant to less than it is granted, as it wants itself. What operators say,
	 * now or later, is still the most that it gets.
	 * @param limits the quotas, by the name of the limit, of those that count by tenant
	 * alone
	 */
	public synchronized void putTightening(String policy, String tenant, Map<String, List<Quota>> limits) {
		named(Set.of(Dimension.TENANT));
		this.tightenings.computeIfAbsent(policy, (id) -> new ConcurrentHashMap<>()).put(tenant, new Tightening(limits));
	}

	public synchronized void removeTightening(String policy, String tenant) {
		this.tightenings.computeIfPresent(policy, (id, tenants) -> {
			tenants.remove(tenant);
			return tenants.isEmpty() ? null : tenants;
		});
	}

	/**
	 * Gives a caller a tier, whatever its token says.
	 * @param dimension what is known about the caller
	 * @param value exactly
	 * @param tier as policies name it; one without it gives the caller its default
	 * @param order when this was written, as compared to other records
	 */
	public synchronized void putTier(Dimension dimension, String value, String tier, long order) {
		named(Set.of(dimension));
		this.tiers.put(dimension, value, new Assignment(tier, order));
	}

	public synchronized void removeTier(Dimension dimension, String value) {
		this.tiers.remove(dimension, value);
	}

	/**
	 * Never limits a caller.
	 * @throws IllegalArgumentException if the entry is empty or a range is not one
	 */
	public synchronized void addAllowed(Map<Dimension, String> entry) {
		this.allow.add(entry);
		named(entry.keySet());
	}

	public synchronized void removeAllowed(Map<Dimension, String> entry) {
		this.allow.remove(entry);
	}

	/**
	 * Always turns a caller away.
	 * @throws IllegalArgumentException if the entry is empty or a range is not one
	 */
	public synchronized void addDenied(Map<Dimension, String> entry) {
		this.deny.add(entry);
		named(entry.keySet());
	}

	public synchronized void removeDenied(Map<Dimension, String> entry) {
		this.deny.remove(entry);
	}

	/**
	 * How many there are. Counts them, so it is not for the path of a request.
	 */
	public int size() {
		return this.overrides.values().stream().mapToInt(ByDimension::size).sum()
				+ this.tightenings.values().stream().mapToInt(Map::size).sum() + this.tiers.size() + this.allow.size()
				+ this.deny.size();
	}

	/**
	 * The overrides of a policy, {@code null} if there is none.
	 */
	@Nullable ByDimension<OverrideRecord> overrides(String policy) {
		return this.overrides.get(policy);
	}

	/**
	 * What the tenant of a request has given itself, {@code null} if nothing.
	 */
	@Nullable Tightening tightening(String policy, Request request) {
		if (this.tightenings.isEmpty()) {
			return null;
		}
		Map<String, Tightening> tenants = this.tightenings.get(policy);
		String tenant = (tenants != null) ? request.verified(Dimension.TENANT) : null;
		return (tenants != null && tenant != null) ? tenants.get(tenant) : null;
	}

	/**
	 * The tier of a caller: what was assigned, by a verified fact, else what its request
	 * says.
	 */
	public @Nullable String tier(Request request) {
		if (this.tiers.isEmpty()) {
			return request.tier();
		}
		Assignment assigned = this.tiers.last(request);
		return (assigned != null) ? assigned.tier() : request.tier();
	}

	boolean allows(Request request) {
		return !this.allow.isEmpty() && this.allow.matches(request::verified);
	}

	boolean denies(Request request) {
		return !this.deny.isEmpty() && this.deny.matches(request.dimensions()::get);
	}

	/**
	 * The dimensions that records are or were about; the same object until one is added.
	 */
	Set<Dimension> dimensions() {
		return this.dimensions;
	}

	private void named(Collection<Dimension> dimensions) {
		if (!this.dimensions.containsAll(dimensions)) {
			Set<Dimension> all = new HashSet<>(this.dimensions);
			all.addAll(dimensions);
			this.dimensions = Set.copyOf(all);
		}
	}

	private record Assignment(String tier, long order) implements ByDimension.Ordered {
	}

}
