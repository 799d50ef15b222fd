/**
 * Measurements, each one command of the executable jar. Every number that the
 * documentation states comes from here.
 */
@NullMarked
package dev.ratelimit.benchmarks;

import org.jspecify.annotations.NullMarked;
