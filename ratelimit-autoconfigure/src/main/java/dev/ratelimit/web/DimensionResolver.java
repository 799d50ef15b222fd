package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;

/**
 * Finds the value of a custom dimension. A bean of this type gives the dimension its bean
 * name; a route may also name one for itself. It must not block, and it must not trust
 * what a caller can forge.
 */
@FunctionalInterface
public interface DimensionResolver {

	/**
	 * The value for a call, {@code null} or blank if it has none.
	 */
	@Nullable String resolve(WebCall call);

}
