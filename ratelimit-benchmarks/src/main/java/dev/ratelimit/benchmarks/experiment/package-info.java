/**
 * The experiments. Limiter instances run in JVMs of their own, which take orders.
 */
@NullMarked
package dev.ratelimit.benchmarks.experiment;

import org.jspecify.annotations.NullMarked;
