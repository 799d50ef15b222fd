package dev.ratelimit;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The facts of one call, with no HTTP type in it.
 *
 * @param policy id of the policy that decides
 * @param dimensions what is known about the caller; verified by whoever builds the
 * request
 * @param cost how many permits are asked for; 0 only looks
 * @param atLeast the smallest number of permits worth having; equals the cost unless a
 * part is welcome
 */
public record Request(String policy, Map<Dimension, String> dimensions, long cost, long atLeast) {

	public Request {
		dimensions = Map.copyOf(dimensions);
		if (cost < 0 || cost > Quota.MAX_PERMITS) {
			throw new IllegalArgumentException("cost must be 0 to " + Quota.MAX_PERMITS + " but was " + cost);
		}
		if (atLeast > cost || (atLeast < 1 && cost > 0)) {
			throw new IllegalArgumentException("atLeast must be 1 to the cost of " + cost + " but was " + atLeast);
		}
	}

	public static Request of(String policy) {
		return new Request(policy, Map.of(), 1, 1);
	}

	/**
	 * The same request with one more fact; a {@code null} value means that it is not
	 * known.
	 */
	public Request with(Dimension dimension, @Nullable String value) {
		Map<Dimension, String> all = new HashMap<>(this.dimensions);
		if (value != null) {
			all.put(dimension, value);
		}
		else {
			all.remove(dimension);
		}
		return new Request(this.policy, all, this.cost, this.atLeast);
	}

	public Request withCost(long cost) {
		return new Request(this.policy, this.dimensions, cost, cost);
	}

	/**
	 * Asks for the cost but is content with less, down to this many permits.
	 */
	public Request atLeast(long permits) {
		return new Request(this.policy, this.dimensions, this.cost, permits);
	}

	/**
	 * Without the values: they may be personal data.
	 */
	@Override
	public String toString() {
		return "Request[policy=" + this.policy + ", dimensions=" + this.dimensions.keySet() + ", cost=" + this.cost
				+ "]";
	}

}
