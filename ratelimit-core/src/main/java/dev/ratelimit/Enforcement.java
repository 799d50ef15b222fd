package dev.ratelimit;

/**
 * Where permits are taken.
 */
public enum Enforcement {

	/** Every decision is made centrally. */
	STRICT,

	/** Permits are taken ahead and spent in-process. */
	LEASED,

	/** Strict until a counter is hot, then leased, and back. */
	ADAPTIVE

}
