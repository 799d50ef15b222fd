/**
 * {@link RedisRefusals} keeps the history of refusals in Redis, written by
 * {@link RefusalCodec}.
 */
@NullMarked
package dev.ratelimit.refusal.redis;

import org.jspecify.annotations.NullMarked;
