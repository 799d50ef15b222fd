/**
 * {@link RateLimiterBuilder} puts a limiter together, for the starter and for code
 * without Spring. It is the only class that knows all layers, and nothing of the core
 * uses it.
 */
@NullMarked
package dev.ratelimit.assembly;

import org.jspecify.annotations.NullMarked;
