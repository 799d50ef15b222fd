package dev.ratelimit.counter;

/**
 * Counters that are spread over nodes, each of which can fail by itself. One call takes
 * counters of one slot only; whoever has more of them makes several calls. A give-back is
 * done for each counter by itself, so that it fails for none because of another, be it
 * that their slot moves.
 */
public interface Shards extends Counters {

	/**
	 * What a counter has to have in common with those of the same call.
	 */
	int slot(Counter counter);

	/**
	 * Who keeps the counter now, by a name that may be shown and metered.
	 */
	String node(Counter counter);

}
