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
 * Records about single callers, written at run time: overrides, tiers, tighter quotas and
 * list entries. Each record is added and removed individually while requests are decided,
 * in a time that does not depend on the number of records; no policy is compiled again.
 * The number of records is not bounded.
 *
 * <p>
 * Every write has a position in an order that is the same in all instances. If two
 * records apply to one caller, the later one wins. All records are later than the
 * configuration.
 */
public final class CallerRecords {

	private final Map<String, CallerIndex<OverrideRecord>> overrides = new ConcurrentHashMap<>();

	/** Windows that callers share, by policy. */
	private final Map<String, PolicyWindows> windows = new ConcurrentHashMap<>();

	/** By policy and tenant. */
	private final Map<String, Map<String, TenantCap>> tightenings = new ConcurrentHashMap<>();

	private final CallerIndex<Assignment> tiers = new CallerIndex<>();

	private final ListEntries allow = new ListEntries();

	private final ListEntries deny = new ListEntries();

	private volatile Set<Dimension> dimensions = Set.of();

	/**
	 * Gives a caller other quotas under a policy.
	 * @param policy id of the policy
	 * @param dimension dimension that identifies the caller
	 * @param value the caller's value, compared exactly
	 * @param limits the quotas, by the name of the limit; a version of the policy ignores
	 * quotas that do not fit it
	 * @param order position of this write among all writes
	 * @throws IllegalArgumentException if one counter cannot keep the windows of all
	 * callers
	 * @see dev.ratelimit.Policy#requireOverride
	 */
	public synchronized void putOverride(String policy, Dimension dimension, String value,
			Map<String, List<Quota>> limits, long order) {
		CallerIndex<OverrideRecord> records = this.overrides.get(policy);
		OverrideRecord before = (records != null) ? records.get(Map.of(dimension, value)) : null;
		windows(policy).replace(dimension, (before != null) ? before.limits() : Map.of(), limits);
		named(Set.of(dimension));
		this.overrides.computeIfAbsent(policy, (id) -> new CallerIndex<>())
			.put(Map.of(dimension, value), new OverrideRecord(order, limits));
	}

	public synchronized void removeOverride(String policy, Dimension dimension, String value) {
		CallerIndex<OverrideRecord> records = this.overrides.get(policy);
		OverrideRecord before = (records != null) ? records.get(Map.of(dimension, value)) : null;
		if (records != null && before != null) {
			records.remove(Map.of(dimension, value));
			windows(policy).replace(dimension, before.limits(), Map.of());
			if (records.isEmpty()) {
				this.overrides.remove(policy);
			}
		}
	}

	PolicyWindows windows(String policy) {
		return this.windows.computeIfAbsent(policy, (id) -> new PolicyWindows());
	}

	/**
	 * Gives a tenant the tighter quotas that it chose itself. The quotas of operators,
	 * present and future, remain the maximum.
	 * @param limits the quotas, by the name of the limit; only limits that count by
	 * tenant alone
	 */
	public synchronized void putTightening(String policy, String tenant, Map<String, List<Quota>> limits) {
		named(Set.of(Dimension.TENANT));
		this.tightenings.computeIfAbsent(policy, (id) -> new ConcurrentHashMap<>()).put(tenant, new TenantCap(limits));
	}

	public synchronized void removeTightening(String policy, String tenant) {
		this.tightenings.computeIfPresent(policy, (id, tenants) -> {
			tenants.remove(tenant);
			return tenants.isEmpty() ? null : tenants;
		});
	}

	/**
	 * Gives a caller a tier, which replaces the tier of its token.
	 * @param dimension dimension that identifies the caller
	 * @param value the caller's value, compared exactly
	 * @param tier name of the tier; a policy without this tier gives the caller its
	 * default
	 * @param order position of this write among all writes
	 */
	public synchronized void putTier(Dimension dimension, String value, String tier, long order) {
		named(Set.of(dimension));
		this.tiers.put(Map.of(dimension, value), new Assignment(tier, order));
	}

	public synchronized void removeTier(Dimension dimension, String value) {
		this.tiers.remove(Map.of(dimension, value));
	}

	/**
	 * Adds callers to the allow-list.
	 * @throws IllegalArgumentException if the entry is empty or an IP range is invalid
	 */
	public synchronized void addAllowed(Map<Dimension, String> entry) {
		this.allow.add(entry);
		named(entry.keySet());
	}

	public synchronized void removeAllowed(Map<Dimension, String> entry) {
		this.allow.remove(entry);
	}

	/**
	 * Adds callers to the deny-list.
	 * @throws IllegalArgumentException if the entry is empty or an IP range is invalid
	 */
	public synchronized void addDenied(Map<Dimension, String> entry) {
		this.deny.add(entry);
		named(entry.keySet());
	}

	public synchronized void removeDenied(Map<Dimension, String> entry) {
		this.deny.remove(entry);
	}

	/**
	 * Number of records. Counts them, so it must not run during a request.
	 */
	public int size() {
		return (int) this.overrides.values().stream().flatMap(CallerIndex::entries).count()
				+ this.tightenings.values().stream().mapToInt(Map::size).sum() + (int) this.tiers.entries().count()
				+ this.allow.size() + this.deny.size();
	}

	@Nullable CallerIndex<OverrideRecord> overrides(String policy) {
		return this.overrides.get(policy);
	}

	/**
	 * The tighter quotas that the tenant of a request chose, {@code null} if there are
	 * none.
	 */
	@Nullable TenantCap tightening(String policy, Request request) {
		if (this.tightenings.isEmpty()) {
			return null;
		}
		Map<String, TenantCap> tenants = this.tightenings.get(policy);
		String tenant = (tenants != null) ? request.verified(Dimension.TENANT) : null;
		return (tenants != null && tenant != null) ? tenants.get(tenant) : null;
	}

	/**
	 * The tier of a caller: from the latest record that matches a verified fact, else
	 * from the request.
	 */
	public @Nullable String tier(Request request) {
		Assignment last = null;
		List<CallerIndex.Table<Assignment>> tables = this.tiers.tables();
		for (int i = 0; i < tables.size(); i++) {
			Assignment assigned = tables.get(i).find(request, Facts.VERIFIED);
			if (assigned != null && (last == null || assigned.order() > last.order())) {
				last = assigned;
			}
		}
		return (last != null) ? last.tier() : request.tier();
	}

	boolean allows(Request request) {
		return this.allow.matches(request, Facts.VERIFIED);
	}

	boolean denies(Request request) {
		return this.deny.matches(request, Facts.ALL);
	}

	/**
	 * The dimensions that present or past records name; the same object until a dimension
	 * is added.
	 */
	public Set<Dimension> dimensions() {
		return this.dimensions;
	}

	private void named(Collection<Dimension> dimensions) {
		if (!this.dimensions.containsAll(dimensions)) {
			Set<Dimension> all = new HashSet<>(this.dimensions);
			all.addAll(dimensions);
			this.dimensions = Set.copyOf(all);
		}
	}

	private record Assignment(String tier, long order) {
	}

}
