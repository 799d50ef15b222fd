package dev.ratelimit.lease;

import java.util.List;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;

/**
 * Permits of one counter that a request has taken from a lease, or from several together.
 */
interface Payment {

	/**
	 * The counter in this instance: as of the grant of the lease, less the permits spent
	 * since. An estimate: it lacks permits that came back since, and permits that others
	 * took.
	 */
	Reading reading(Counter counter);

	/**
	 * Returns the permits, because another limit refused the request. Those of a lease
	 * that has expired in the meantime are lost.
	 * @param permits all permits that the request took
	 */
	void putBack(long permits);

	/**
	 * The times at which Redis granted the permits, the newest first.
	 * @param permits all permits that the request took
	 */
	List<Reading.Taken> taken(long permits);

}
