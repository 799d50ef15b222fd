/**
 * Cool-downs and bans of callers that keep sending while they are refused. The design is
 * in {@code docs/penalties.md}.
 */
@NullMarked
package dev.ratelimit.penalty;

import org.jspecify.annotations.NullMarked;
