package dev.ratelimit.penalty;

import java.time.Duration;

/**
 * A ban in force.
 *
 * @param caller whom it is for
 * @param left time until its end
 */
public record Ban(CallerKey caller, Duration left) {
}
