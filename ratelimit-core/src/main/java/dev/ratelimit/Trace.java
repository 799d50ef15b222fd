package dev.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Tells which trace a call belongs to. Asked only when somebody writes it down, so that a
 * request that passes costs nothing.
 */
@FunctionalInterface
public interface Trace {

	/**
	 * The trace's id, {@code null} if there is none.
	 */
	@Nullable String traceId();

}
