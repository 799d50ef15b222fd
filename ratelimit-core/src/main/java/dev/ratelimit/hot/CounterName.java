package dev.ratelimit.hot;

import dev.ratelimit.counter.Counter;

/**
 * The name of a counter among instances: enough to find it, without any value that a
 * caller controls.
 *
 * @param key its key
 * @param policy id of its policy
 * @param limit name of its limit
 * @param hash its hash code, which is the same in every instance: a search compares
 * hashes first and makes a key only for a match
 */
public record CounterName(String key, String policy, String limit, int hash) {

	public static CounterName of(Counter counter) {
		return new CounterName(counter.key(), counter.policy(), counter.spec().limit().name(), counter.hashCode());
	}

}
