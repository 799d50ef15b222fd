package dev.ratelimit.web;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A decision in HTTP.
 *
 * @param status status of a refused request, 0 for one that goes on
 * @param headers headers to set on the response, in place of its own of these names
 * @param problem problem document of a refused request
 */
public record HttpAnswer(int status, Map<String, String> headers, @Nullable Problem problem) {

	/** The media type of {@link #body}. */
	public static final String PROBLEM_JSON = "application/problem+json";

	/**
	 * The problem document in JSON, for a refused request.
	 */
	public @Nullable String body() {
		return (this.problem != null) ? this.problem.json() : null;
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
