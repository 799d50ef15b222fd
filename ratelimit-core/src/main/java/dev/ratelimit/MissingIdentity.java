package dev.ratelimit;

/**
 * What a limit does about a request that lacks one of its dimensions.
 */
public enum MissingIdentity {

	/** Counts by the caller's IP in place of the missing fact. */
	IP,

	/** Turns the request away: 401. */
	DENY,

	/** Leaves that limit out. */
	SKIP

}
