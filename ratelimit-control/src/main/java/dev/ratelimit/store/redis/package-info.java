/**
 * The policy store and the sums of a fleet in Redis.
 */
@NullMarked
package dev.ratelimit.store.redis;

import org.jspecify.annotations.NullMarked;
