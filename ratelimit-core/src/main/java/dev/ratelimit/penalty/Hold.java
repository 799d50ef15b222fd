package dev.ratelimit.penalty;

/**
 * A cool-down or a ban in force.
 *
 * @param caller whom it is for
 * @param ban whether it is a ban
 * @param until its end, by a monotonic clock
 * @param listed whether the fleet's list has it
 */
record Hold(CallerKey caller, boolean ban, long until, boolean listed) {

	long left(long now) {
		return this.until - now;
	}

	boolean isOver(long now) {
		return left(now) <= 0;
	}

}
