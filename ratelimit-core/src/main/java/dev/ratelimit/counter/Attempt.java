package dev.ratelimit.counter;

/**
 * One attempt of a request that may be sent again under the same id. A store keeps a
 * record of an admission: the time of the grant, its permits, and how many attempts hold
 * it. Later attempts are then granted without taking permits.
 *
 * @param id names the request of one caller, see {@link CounterKeys#attempt}
 * @param ttlMicros time after the grant within which the record counts
 * @param maxReplays how often the request is granted again; then it is decided anew
 */
public record Attempt(String id, long ttlMicros, int maxReplays) {

	/** Kind of key: no algorithm has this letter. */
	private static final String RECORD = "3i:";

	/** Most attempts that hold one record. */
	public int mostHolders() {
		return 1 + this.maxReplays;
	}

	/**
	 * The key of the record of a call. It has the slot of the counters.
	 * @param first the first counter of the call
	 */
	public String record(Counter first) {
		String key = first.key();
		return key.substring(0, key.indexOf(':') + 1) + RECORD + Correction.tag(key) + this.id;
	}

}
