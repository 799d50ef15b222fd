/**
 * The instances that share limits, and the switch that forces a failure mode on all of
 * them.
 */
@NullMarked
package dev.ratelimit.fleet;

import org.jspecify.annotations.NullMarked;
