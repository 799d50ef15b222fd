package dev.ratelimit.web;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What a decision looks like in HTTP.
 *
 * @param status of a request that was turned away, 0 for one that goes on
 * @param headers to set on the response, replacing what it has under these names
 * @param body a problem document in JSON, for a request that was turned away
 */
public record HttpAnswer(int status, Map<String, String> headers, @Nullable String body) {

	/** The media type of {@link #body}. */
	public static final String PROBLEM_JSON = "application/problem+json";

	public boolean goesOn() {
		return this.status == 0;
	}

}
