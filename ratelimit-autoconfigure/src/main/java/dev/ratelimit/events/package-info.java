/**
 * What was decided, told to Kafka as usage events.
 *
 * <p>
 * The invariant: every decision counts exactly once, as delivered or as dropped, and no
 * decision waits for it. So the thread that decides only puts an event into a buffer that
 * never blocks; a thread of our own does the rest; and what was handed to the broker's
 * client is tried until the broker has confirmed it, since a try that is given up may
 * have reached the topic all the same.
 */
@NullMarked
package dev.ratelimit.events;

import org.jspecify.annotations.NullMarked;
