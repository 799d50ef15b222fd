package dev.ratelimit;

/**
 * What a limit does with a request that lacks one of its dimensions.
 */
public enum MissingIdentity implements EnumText {

	/** Count by the caller's IP in place of the missing dimension. */
	IP,

	/** Refuse the request with 401. */
	DENY,

	/** Skip the limit. */
	SKIP

}
