package dev.ratelimit;

/**
 * What answers when the counters cannot.
 */
public enum FailureMode {

	/** Let the request pass. */
	ALLOW,

	/** Turn it away: not because it is over its limit, but because nobody knows. */
	DENY,

	/** Count in this process, at this instance's share of the limit. */
	LOCAL

}
