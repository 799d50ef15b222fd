package dev.ratelimit.counter;

/**
 * What may be said of a counter to others: enough to find it, and nothing that a caller
 * controls can be read in it.
 *
 * @param key where it is kept
 * @param policy id of its policy
 * @param limit name of its limit
 * @param hash its hash code, which is the same everywhere: who looks for a counter
 * compares this first and makes a key only if it fits
 */
public record CounterName(String key, String policy, String limit, int hash) {

	public static CounterName of(Counter counter) {
		return new CounterName(counter.key(), counter.policy(), counter.spec().limit().name(), counter.hashCode());
	}

}
