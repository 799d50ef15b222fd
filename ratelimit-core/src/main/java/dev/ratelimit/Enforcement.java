package dev.ratelimit;

/**
 * Where a limit takes its permits.
 */
public enum Enforcement implements EnumText {

	/** In Redis, at every decision. */
	STRICT,

	/** In this process, from permits that were taken ahead from Redis. */
	LEASED,

	/** Strict; leased while a counter is hot. */
	ADAPTIVE

}
