package dev.ratelimit;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The facts of one call, with no HTTP type in it.
 *
 * @param policy id of the policy that decides
 * @param dimensions the known facts about the caller
 * @param unverified dimensions that the caller only claims: limits count by them and the
 * deny-list matches them, but they never select a tier, an override or an allow-list
 * entry
 * @param tier plan of the caller, from a verified fact
 * @param cost requested permits; 0 only reads the counters
 * @param atLeast the smallest number of permits that the caller accepts; equals the cost
 * unless the caller accepts a part
 * @param id the request id for logs and events: from the header, else the trace id; does
 * not affect the decision
 * @param traceId the trace id of the call, {@code null} if it has none
 * @param unresolved facts that are unknown because a resolver failed
 * @param limits names of the limits that are checked, {@code null} for all limits of the
 * policy
 * @param idempotencyKey names the request whenever it is sent, from a trusted source;
 * {@code null} if every attempt is counted
 */
public record Request(String policy, Map<Dimension, String> dimensions, Set<Dimension> unverified,
		@Nullable String tier, long cost, long atLeast, @Nullable String id, @Nullable String traceId,
		Unresolved unresolved, @Nullable Set<String> limits, @Nullable String idempotencyKey) {

	/** An id, and what an edge adds to it for a second check of the same call. */
	private static final int LONGEST_KEY = 2 * Idempotency.LONGEST_ID;

	public Request {
		dimensions = Map.copyOf(dimensions);
		unverified = Set.copyOf(unverified);
		limits = (limits != null) ? Set.copyOf(limits) : null;
		if (cost < 0 || cost > Quota.MAX_PERMITS) {
			throw new IllegalArgumentException("cost must be 0 to " + Quota.MAX_PERMITS + " but was " + cost);
		}
		if (idempotencyKey != null && (idempotencyKey.isEmpty() || idempotencyKey.length() > LONGEST_KEY)) {
			throw new IllegalArgumentException(
					"an idempotency key has 1 to " + LONGEST_KEY + " characters but has " + idempotencyKey.length());
		}
		if (atLeast > cost || atLeast < Math.min(1, cost)) {
			throw new IllegalArgumentException("atLeast must be 1 to the cost of " + cost + " but was " + atLeast);
		}
	}

	/**
	 * A request of which every attempt is counted.
	 */
	public Request(String policy, Map<Dimension, String> dimensions, Set<Dimension> unverified, @Nullable String tier,
			long cost, long atLeast, @Nullable String id, @Nullable String traceId, Unresolved unresolved,
			@Nullable Set<String> limits) {
		this(policy, dimensions, unverified, tier, cost, atLeast, id, traceId, unresolved, limits, null);
	}

	/**
	 * A request that all limits of the policy check.
	 */
	public Request(String policy, Map<Dimension, String> dimensions, Set<Dimension> unverified, @Nullable String tier,
			long cost, long atLeast, @Nullable String id, @Nullable String traceId, Unresolved unresolved) {
		this(policy, dimensions, unverified, tier, cost, atLeast, id, traceId, unresolved, null);
	}

	/**
	 * A request without an id and with all facts resolved.
	 */
	public Request(String policy, Map<Dimension, String> dimensions, Set<Dimension> unverified, @Nullable String tier,
			long cost, long atLeast) {
		this(policy, dimensions, unverified, tier, cost, atLeast, null, null, Unresolved.NOTHING);
	}

	public static Request of(String policy) {
		return new Request(policy, Map.of(), Set.of(), null, 1, 1);
	}

	/**
	 * The same request with one more verified fact; a {@code null} value removes the
	 * dimension.
	 */
	public Request with(Dimension dimension, @Nullable String value) {
		Map<Dimension, String> all = new HashMap<>(this.dimensions);
		if (value != null) {
			all.put(dimension, value);
		}
		else {
			all.remove(dimension);
		}
		Set<Dimension> unverified = new HashSet<>(this.unverified);
		unverified.remove(dimension);
		return new Request(this.policy, all, unverified, this.tier, this.cost, this.atLeast, this.id, this.traceId,
				this.unresolved, this.limits, this.idempotencyKey);
	}

	/**
	 * The same request with one more fact that the caller only claims.
	 */
	public Request withUnverified(Dimension dimension, String value) {
		Set<Dimension> all = new HashSet<>(this.unverified);
		all.add(dimension);
		Request request = with(dimension, value);
		return new Request(this.policy, request.dimensions, all, this.tier, this.cost, this.atLeast, this.id,
				this.traceId, this.unresolved, this.limits, this.idempotencyKey);
	}

	public Request withTier(@Nullable String tier) {
		return new Request(this.policy, this.dimensions, this.unverified, tier, this.cost, this.atLeast, this.id,
				this.traceId, this.unresolved, this.limits, this.idempotencyKey);
	}

	public Request withCost(long cost) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, cost, cost, this.id, this.traceId,
				this.unresolved, this.limits, this.idempotencyKey);
	}

	/**
	 * The same request, which accepts fewer permits than its cost, down to this number.
	 */
	public Request atLeast(long permits) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, this.cost, permits, this.id,
				this.traceId, this.unresolved, this.limits, this.idempotencyKey);
	}

	public Request withId(@Nullable String id) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, this.cost, this.atLeast, id,
				this.traceId, this.unresolved, this.limits, this.idempotencyKey);
	}

	public Request withUnresolved(Unresolved unresolved) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, this.cost, this.atLeast, this.id,
				this.traceId, unresolved, this.limits, this.idempotencyKey);
	}

	/**
	 * The same request, which only these limits of the policy check, by their names.
	 */
	public Request only(Set<String> limits) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, this.cost, this.atLeast, this.id,
				this.traceId, this.unresolved, limits, this.idempotencyKey);
	}

	/**
	 * The same request under an id that names it whenever it is sent. If the policy has
	 * {@code idempotency}, attempts with one key are counted once. The key must come from
	 * a source that callers cannot forge; it is scoped to the caller's counters.
	 * @param key 1 to 256 characters, or {@code null}
	 */
	public Request withIdempotencyKey(@Nullable String key) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, this.cost, this.atLeast, this.id,
				this.traceId, this.unresolved, this.limits, key);
	}

	/**
	 * Whether a limit of the policy checks the request.
	 */
	public boolean counts(Limit limit) {
		return this.limits == null || this.limits.contains(limit.name());
	}

	/**
	 * The value of a dimension; {@code null} if it is unknown or only claimed.
	 */
	public @Nullable String verified(Dimension dimension) {
		return this.unverified.contains(dimension) ? null : this.dimensions.get(dimension);
	}

	/**
	 * Without the values: they may be personal data.
	 */
	@Override
	public String toString() {
		return "Request[policy=" + this.policy + ", dimensions=" + this.dimensions.keySet() + ", cost=" + this.cost
				+ "]";
	}

	/**
	 * Facts that are unknown because a resolver failed. A caller may be able to cause
	 * such a failure, so it does not count as an outage: it never loosens a limit.
	 *
	 * @param dimensions dimensions whose resolver failed. A policy with
	 * {@code on-missing-identity: skip} counts by the IP for them instead of skipping the
	 * limit
	 * @param cost whether the cost is unknown: the request then costs the largest cost
	 * that fits
	 * @param apiKey whether the API key could not be verified. Its tenant and tier are
	 * unknown then; limits that need them use the failure mode
	 */
	public record Unresolved(Set<Dimension> dimensions, boolean cost, boolean apiKey) {

		/** All facts are known. */
		public static final Unresolved NOTHING = new Unresolved(Set.of(), false, false);

		public Unresolved {
			dimensions = Set.copyOf(dimensions);
		}

		/**
		 * The same, with a known cost.
		 */
		public Unresolved priced() {
			return new Unresolved(this.dimensions, false, this.apiKey);
		}

	}

}
