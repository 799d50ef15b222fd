/**
 * Meters of decisions, counters, nodes and the fleet.
 */
@NullMarked
package dev.ratelimit.metrics;

import org.jspecify.annotations.NullMarked;
