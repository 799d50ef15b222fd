package dev.ratelimit.web;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What a decision looks like in HTTP.
 *
 * @param status of a request that was turned away, 0 for one that goes on
 * @param headers to set on the response, replacing what it has under these names
 * @param problem what a request that was turned away is told
 */
public record HttpAnswer(int status, Map<String, String> headers, @Nullable Problem problem) {

	/** The media type of {@link #body}. */
	public static final String PROBLEM_JSON = "application/problem+json";

	/**
	 * A problem document in JSON, for a request that was turned away.
	 */
	public @Nullable String body() {
		return (this.problem != null) ? this.problem.json() : null;
	}

	public boolean goesOn() {
		return this.status == 0;
	}

	/**
	 * A problem document.
	 *
	 * @param members by name, in their order
	 * @param json the same as text
	 */
	public record Problem(Map<String, Object> members, String json) {

	}

}
