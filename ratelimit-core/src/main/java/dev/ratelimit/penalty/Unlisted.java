package dev.ratelimit.penalty;

/**
 * Whether there may be bans that the fleet's list had no room for, so that callers have
 * to be looked up. Times are nanoseconds of a monotonic clock.
 */
final class Unlisted {

	private volatile boolean possible;

	/** End of the last of them. */
	private long until;

	/** What was true at the last look at the time: every check asks. */
	boolean isPossible() {
		return this.possible;
	}

	/** Whether there may be some now. */
	synchronized boolean isPossible(long now) {
		this.possible = this.possible && this.until - now > 0;
		return this.possible;
	}

	/** There may be some until a time, or until a later one that is known already. */
	synchronized void extend(long until) {
		this.until = (this.possible && this.until - until > 0) ? this.until : until;
		this.possible = true;
	}

}
