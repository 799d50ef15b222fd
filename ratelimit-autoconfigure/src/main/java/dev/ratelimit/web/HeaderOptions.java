package dev.ratelimit.web;

/**
 * Which headers tell a caller about its limits. A {@code Retry-After} is always sent.
 *
 * @param style which fields are written
 * @param degraded what they say while the counters cannot answer
 */
public record HeaderOptions(Style style, Degraded degraded) {

	public static final HeaderOptions DEFAULTS = new HeaderOptions(Style.BOTH, Degraded.MARKER);

	boolean legacy() {
		return this.style == Style.BOTH || this.style == Style.LEGACY;
	}

	boolean draft() {
		return this.style == Style.BOTH || this.style == Style.DRAFT;
	}

	/** The marker is one of the legacy fields. */
	boolean marker() {
		return legacy() && this.degraded == Degraded.MARKER;
	}

	/**
	 * Which fields are written.
	 */
	public enum Style {

		/** The legacy fields and the draft's. */
		BOTH,

		/** {@code X-RateLimit-*}. */
		LEGACY,

		/** {@code RateLimit} and {@code RateLimit-Policy}. */
		DRAFT,

		/** Neither. */
		NONE

	}

	/**
	 * What the fields say while the counters cannot answer.
	 */
	public enum Degraded {

		/** That they cannot. */
		MARKER,

		/** Nothing. */
		OMIT

	}

}
