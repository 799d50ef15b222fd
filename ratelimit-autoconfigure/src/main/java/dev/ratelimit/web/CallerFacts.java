package dev.ratelimit.web;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;

/**
 * Collects the facts about one call, each dimension at most once.
 */
final class CallerFacts {

	private final String policy;

	private final Identity caller;

	private final @Nullable String route;

	private final @Nullable String region;

	/** Few calls have any. */
	private final List<Map.Entry<Dimension, String>> further = new ArrayList<>(0);

	private Set<Dimension> claimed = Set.of();

	private Set<Dimension> failed = Set.of();

	CallerFacts(String policy, Identity caller, @Nullable String route, @Nullable String region) {
		this.policy = policy;
		this.caller = caller;
		this.route = route;
		this.region = region;
	}

	void put(Dimension dimension, @Nullable String value) {
		put(this.further, dimension, value);
	}

	void putCustom(Dimension dimension, @Nullable String value, boolean verified) {
		put(dimension, value);
		if (!verified) {
			this.claimed = with(this.claimed, dimension);
		}
	}

	void fail(Dimension dimension) {
		this.failed = with(this.failed, dimension);
	}

	/** The map is immutable, so that the request does not copy it. */
	@SuppressWarnings({ "unchecked", "rawtypes" })
	Request request(long cost, RequestIds ids) {
		List<Map.Entry<Dimension, String>> values = new ArrayList<>(8);
		put(values, Dimension.USER, this.caller.user());
		put(values, Dimension.TENANT, this.caller.tenant());
		put(values, Dimension.IP, this.caller.ip());
		put(values, Dimension.API_KEY, this.caller.apiKey());
		put(values, Dimension.ROUTE, this.route);
		put(values, Dimension.REGION, this.region);
		values.addAll(this.further);
		boolean unknown = cost == RequestResolver.UNKNOWN_COST;
		long permits = unknown ? 1 : cost;
		return new Request(this.policy, Map.ofEntries(values.toArray(new Map.Entry[0])), unverified(),
				this.caller.tier(), permits, permits, ids.id(), ids.traceId(), unresolved(unknown));
	}

	private Set<Dimension> unverified() {
		Set<Dimension> unverified = this.claimed;
		if (!this.caller.ipVerified()) {
			unverified = with(unverified, Dimension.IP);
		}
		boolean claimedKey = this.caller.apiKey() != null && !this.caller.apiKeyVerified();
		return claimedKey ? with(unverified, Dimension.API_KEY) : unverified;
	}

	private Request.Unresolved unresolved(boolean cost) {
		Identity.Failed unknown = this.caller.failed();
		if (this.failed.isEmpty() && !cost && unknown == Identity.Failed.NOTHING) {
			return Request.Unresolved.NOTHING;
		}
		Set<Dimension> dimensions = new HashSet<>(this.failed);
		if (unknown.principal()) {
			dimensions.add(Dimension.USER);
			dimensions.add(Dimension.TENANT);
		}
		return new Request.Unresolved(dimensions, cost, unknown.apiKey());
	}

	private static void put(List<Map.Entry<Dimension, String>> values, Dimension dimension, @Nullable String value) {
		if (value != null && !value.isBlank()) {
			values.add(Map.entry(dimension, value));
		}
	}

	/** The set is immutable, so that the request does not copy it. */
	private static Set<Dimension> with(Set<Dimension> dimensions, Dimension dimension) {
		if (dimensions.contains(dimension)) {
			return dimensions;
		}
		Dimension[] all = dimensions.toArray(new Dimension[dimensions.size() + 1]);
		all[dimensions.size()] = dimension;
		return Set.of(all);
	}

}
