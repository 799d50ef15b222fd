package dev.ratelimit.web;

import java.util.List;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Headers that tell a caller about its limits. A {@code Retry-After} is always sent.
 *
 * @param style Which header fields are written; one or several.
 * @param degraded Whether a response tells that its limits could not be checked.
 */
public record HeaderOptions(@DefaultValue("both") List<Style> style, @DefaultValue("marker") Degraded degraded) {

	public static final HeaderOptions DEFAULTS = new HeaderOptions(List.of(Style.BOTH), Degraded.MARKER);

	public HeaderOptions {
		style = List.copyOf(style);
	}

	/**
	 * Whether any fields are written besides Retry-After.
	 */
	public boolean any() {
		return !this.style.contains(Style.NONE);
	}

	/**
	 * Whether the styles go together: one at least, and none alone.
	 */
	public boolean isValid() {
		return !this.style.isEmpty() && (any() || this.style.size() == 1);
	}

	boolean legacy() {
		return this.style.contains(Style.BOTH) || this.style.contains(Style.LEGACY);
	}

	boolean draft() {
		return this.style.contains(Style.BOTH) || this.style.contains(Style.DRAFT);
	}

	boolean separate() {
		return this.style.contains(Style.SEPARATE);
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

		/**
		 * {@code RateLimit-Limit}, {@code RateLimit-Remaining} and
		 * {@code RateLimit-Reset}, of earlier drafts.
		 */
		SEPARATE,

		/** None of them. */
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
