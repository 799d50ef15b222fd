/**
 * The history of refusals in Redis.
 */
@NullMarked
package dev.ratelimit.refusal.redis;

import org.jspecify.annotations.NullMarked;
