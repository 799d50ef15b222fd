package dev.ratelimit.counter;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Settlement;

/**
 * The answer of a node to one attempt at a correction.
 *
 * @param outcome the outcome; {@link Settlement#NOTHING} if an earlier attempt made the
 * correction, {@code null} if this attempt came too late
 * @param time of the node, in microseconds
 */
public record Corrected(@Nullable Settlement outcome, long time) {
}
