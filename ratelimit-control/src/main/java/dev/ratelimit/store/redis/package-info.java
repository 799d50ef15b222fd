/**
 * {@link RedisPolicyStore} keeps records and the sums of a fleet in Redis,
 * {@link RedisAudit} the audit trail; {@link RecordCodec} says how a record is written.
 */
@NullMarked
package dev.ratelimit.store.redis;

import org.jspecify.annotations.NullMarked;
