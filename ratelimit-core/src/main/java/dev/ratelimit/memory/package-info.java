/**
 * Counters in this process: bounded, lock-free, all-or-nothing.
 */
@NullMarked
package dev.ratelimit.memory;

import org.jspecify.annotations.NullMarked;
