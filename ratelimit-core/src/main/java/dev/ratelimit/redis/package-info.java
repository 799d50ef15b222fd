/**
 * Counters in Redis: one script call decides a whole request.
 */
@NullMarked
package dev.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
