package dev.ratelimit.penalty;

import dev.ratelimit.counter.Counter;

/**
 * Names a caller under a limit, without revealing it.
 *
 * @param key key of the caller's counter
 * @param policy id of the policy
 * @param limit name of the limit
 */
public record CallerKey(String key, String policy, String limit) {

	public static CallerKey of(Counter counter) {
		return new CallerKey(counter.key(), counter.policy(), counter.spec().limit().name());
	}

}
