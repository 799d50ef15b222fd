/**
 * Usage events, one for each decision, sent to Kafka.
 *
 * <p>
 * The invariant: every decision counts exactly once, as delivered or as dropped, and no
 * decision waits. The thread that decides only puts an event into a buffer that never
 * blocks; a background thread does the rest. The broker's client retries an event until
 * the broker confirms it, because an event that it gives up may have reached the topic.
 */
@NullMarked
package dev.ratelimit.events;

import org.jspecify.annotations.NullMarked;
