/**
 * Load: who asks for what and when, and what became of it. Schedules are made from a seed
 * or from an access log, so that a run can be repeated.
 */
@NullMarked
package dev.ratelimit.benchmarks.load;

import org.jspecify.annotations.NullMarked;
