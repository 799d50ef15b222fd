/**
 * The five algorithms as pure functions over (state, now, permits), in whole numbers
 * only.
 */
@NullMarked
package dev.ratelimit.algorithm;

import org.jspecify.annotations.NullMarked;
