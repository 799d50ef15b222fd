package dev.ratelimit;

/**
 * What decides a request when the counters do not answer.
 */
public enum FailureMode implements EnumText {

	/** Allow the request. */
	ALLOW,

	/**
	 * Refuse the request with 503: the limiter does not know whether it is over its
	 * limit.
	 */
	DENY,

	/** Count in this process, with this instance's share of the limit. */
	LOCAL

}
