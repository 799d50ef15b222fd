/**
 * Puts a limiter together, for the starter and for code without Spring. Nothing of the
 * core uses it.
 */
@NullMarked
package dev.ratelimit.assembly;

import org.jspecify.annotations.NullMarked;
