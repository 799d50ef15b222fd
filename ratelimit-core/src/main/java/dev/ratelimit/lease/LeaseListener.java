package dev.ratelimit.lease;

/**
 * Sees how leases are fetched. Called on the connection's thread, so it must be quick.
 */
@FunctionalInterface
public interface LeaseListener {

	/**
	 * A lease was asked for and Redis has answered.
	 * @param permits how many it granted, 0 if it refused
	 */
	void fetched(long permits);

}
