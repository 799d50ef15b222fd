/**
 * Finds the counters with the most traffic.
 */
@NullMarked
package dev.ratelimit.hot;

import org.jspecify.annotations.NullMarked;
