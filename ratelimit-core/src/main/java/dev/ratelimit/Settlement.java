package dev.ratelimit;

/**
 * What became of a cost that was settled after the request; a tag of the metrics. A
 * settle that corrects several counters has the last outcome in this order that one of
 * them has.
 */
public enum Settlement implements EnumText {

	/**
	 * Nothing was corrected: the decision took no permits, or was settled before, or its
	 * policy has no {@code cost}.
	 */
	NOTHING,

	/** The estimate stands: the response was read and did not name a valid cost. */
	ESTIMATED,

	/** The true cost was charged: it is at least the estimate. */
	SETTLED,

	/** Permits were given back: the true cost is below the estimate. */
	REFUNDED,

	/** Only a part was charged, because a counter would owe more than one burst. */
	CAPPED,

	/** Not all permits were given back: the window of the grant is over. */
	EXPIRED,

	/**
	 * The estimate stands: the counters did not answer for 30 seconds, too many settles
	 * wait for answers, or the receipt is no longer valid.
	 */
	LOST;

	/**
	 * The outcome of two corrections together.
	 */
	public Settlement and(Settlement other) {
		return (other.ordinal() > ordinal()) ? other : this;
	}

}
