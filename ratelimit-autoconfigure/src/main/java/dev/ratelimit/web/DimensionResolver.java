package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;

/**
 * Finds the value of a custom dimension. A bean of this type gives the dimension its bean
 * name; a route may also name one for itself. It must not block. If it throws, the call
 * counts as one without this dimension.
 */
@FunctionalInterface
public interface DimensionResolver {

	/**
	 * The value for a call, {@code null} or blank if it has none.
	 */
	@Nullable String resolve(WebCall call);

	/**
	 * Whether the value is a verified fact, such as a claim of a verified token. One that
	 * callers can choose, such as a header, a parameter or a part of the path, is not: it
	 * is counted by and can be deny-listed, but never matches an allow-list entry, a tier
	 * or an override.
	 */
	default boolean verified() {
		return false;
	}

}
