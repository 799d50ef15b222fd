/**
 * A load generator for any gateway on this machine, by a schedule that can be repeated.
 */
@NullMarked
package dev.ratelimit.benchmarks.gen;

import org.jspecify.annotations.NullMarked;
