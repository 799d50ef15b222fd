/**
 * Usage events, one for each decision, sent to Kafka.
 *
 * <p>
 * The invariant: every decision counts exactly once, as delivered or as dropped, and no
 * decision waits. The thread that decides only puts an event into a buffer that never
 * blocks; a background thread does the rest. The broker's client retries an event until
 * the broker confirms it, because an event that it gives up may have reached the topic.
 *
 * <p>
 * <b>Classes.</b>
 * <ul>
 * <li>on the thread of a decision: {@link UsageEvents} puts a {@link UsageEvent} into the
 * {@link EventBuffer}</li>
 * <li>in the background: {@link EventSender} takes it, {@link EventFormat} makes an
 * {@link EventMessage}, and {@link KafkaOutlet} sends it as an {@link EventOutlet};
 * {@link DeliveryLog} and {@link EventMeters} report</li>
 * <li>options and beans: {@link EventOptions} and
 * {@link RateLimitEventsAutoConfiguration}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.events;

import org.jspecify.annotations.NullMarked;
