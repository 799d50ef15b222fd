package dev.ratelimit.policy;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;

/**
 * The facts of a request that an entry about callers may match.
 */
enum Facts {

	/** Facts that the caller cannot choose. */
	VERIFIED,

	/** Also facts that the caller only claims. */
	ALL;

	@Nullable String get(Request request, Dimension dimension) {
		return (this == ALL) ? request.dimensions().get(dimension) : request.verified(dimension);
	}

}
