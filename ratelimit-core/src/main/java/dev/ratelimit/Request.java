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
 * @param dimensions what is known about the caller
 * @param unverified those of them that the caller merely claims: they are counted by and
 * can be deny-listed, but never select a tier, an override or an allow-list entry
 * @param tier plan of the caller, from a verified fact
 * @param cost how many permits are asked for; 0 only looks
 * @param atLeast the smallest number of permits worth having; equals the cost unless a
 * part is welcome
 * @param id what the call goes by elsewhere, in logs and traces; nothing depends on it
 * @param traceId the trace that the call belongs to, {@code null} if none is known
 * @param unresolved what could not be found out because something failed
 */
public record Request(String policy, Map<Dimension, String> dimensions, Set<Dimension> unverified,
		@Nullable String tier, long cost, long atLeast, @Nullable String id, @Nullable String traceId,
		Unresolved unresolved) {

	public Request {
		dimensions = Map.copyOf(dimensions);
		unverified = Set.copyOf(unverified);
		if (cost < 0 || cost > Quota.MAX_PERMITS) {
			throw new IllegalArgumentException("cost must be 0 to " + Quota.MAX_PERMITS + " but was " + cost);
		}
		if (atLeast > cost || atLeast < Math.min(1, cost)) {
			throw new IllegalArgumentException("atLeast must be 1 to the cost of " + cost + " but was " + atLeast);
		}
	}

	/**
	 * A request that has no id.
	 */
	public Request(String policy, Map<Dimension, String> dimensions, Set<Dimension> unverified, @Nullable String tier,
			long cost, long atLeast) {
		this(policy, dimensions, unverified, tier, cost, atLeast, null, null);
	}

	/**
	 * A request of which all could be found out.
	 */
	public Request(String policy, Map<Dimension, String> dimensions, Set<Dimension> unverified, @Nullable String tier,
			long cost, long atLeast, @Nullable String id, @Nullable String traceId) {
		this(policy, dimensions, unverified, tier, cost, atLeast, id, traceId, Unresolved.NOTHING);
	}

	public static Request of(String policy) {
		return new Request(policy, Map.of(), Set.of(), null, 1, 1);
	}

	/**
	 * The same request with one more verified fact; a {@code null} value means that it is
	 * not known.
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
				this.unresolved);
	}

	/**
	 * The same request with one more fact that the caller merely claims.
	 */
	public Request withUnverified(Dimension dimension, String value) {
		Set<Dimension> all = new HashSet<>(this.unverified);
		all.add(dimension);
		Request request = with(dimension, value);
		return new Request(this.policy, request.dimensions, all, this.tier, this.cost, this.atLeast, this.id,
				this.traceId, this.unresolved);
	}

	public Request withTier(@Nullable String tier) {
		return new Request(this.policy, this.dimensions, this.unverified, tier, this.cost, this.atLeast, this.id,
				this.traceId, this.unresolved);
	}

	public Request withCost(long cost) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, cost, cost, this.id, this.traceId,
				this.unresolved);
	}

	/**
	 * Asks for the cost but is content with less, down to this many permits.
	 */
	public Request atLeast(long permits) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, this.cost, permits, this.id,
				this.traceId, this.unresolved);
	}

	public Request withId(@Nullable String id) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, this.cost, this.atLeast, id,
				this.traceId, this.unresolved);
	}

	public Request withUnresolved(Unresolved unresolved) {
		return new Request(this.policy, this.dimensions, this.unverified, this.tier, this.cost, this.atLeast, this.id,
				this.traceId, unresolved);
	}

	/**
	 * The value of a dimension if it is a verified fact.
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
	 * What could not be found out about a call because something failed on the way. A
	 * caller may be able to bring that about, so it is not an outage: it never makes a
	 * limit hold less than it would without the failing part.
	 *
	 * @param dimensions those whose resolver failed. They are missing, but a policy that
	 * leaves limits out for a missing identity counts by the IP instead
	 * @param cost whether the cost is not known: the largest that fits is charged
	 * @param apiKey whether the API key could not be verified, so that the tenant and the
	 * tier that it may give are not known: limits that need them follow the failure mode
	 */
	public record Unresolved(Set<Dimension> dimensions, boolean cost, boolean apiKey) {

		/** As a rule. */
		public static final Unresolved NOTHING = new Unresolved(Set.of(), false, false);

		public Unresolved {
			dimensions = Set.copyOf(dimensions);
		}

		/**
		 * The same without the cost, which has been set.
		 */
		public Unresolved priced() {
			return new Unresolved(this.dimensions, false, this.apiKey);
		}

	}

}
