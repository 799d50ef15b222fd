package dev.ratelimit.penalty;

import dev.ratelimit.EnumText;

/**
 * Sees each cool-down and each ban that begins, once in the fleet; must not block.
 */
@FunctionalInterface
public interface PenaltyListener {

	/**
	 * A penalty has begun.
	 * @param policy id of the policy
	 */
	void began(String policy, Kind kind);

	/**
	 * Kind of penalty; a tag of the metrics.
	 */
	enum Kind implements EnumText {

		COOL_DOWN, BAN

	}

}
