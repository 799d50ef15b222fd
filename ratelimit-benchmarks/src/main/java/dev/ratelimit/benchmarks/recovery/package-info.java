/**
 * How soon an instance under full load enforces its limits again: after a start and after
 * Redis comes back.
 */
@NullMarked
package dev.ratelimit.benchmarks.recovery;

import org.jspecify.annotations.NullMarked;
