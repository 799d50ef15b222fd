package dev.ratelimit.lease;

/**
 * Sees how leases are fetched. Called on the connection's thread, so it must be quick.
 */
@FunctionalInterface
public interface LeaseListener {

	/**
	 * Redis has answered a call for a lease.
	 * @param permits permits that it granted, 0 if it refused
	 */
	void fetched(long permits);

}
