/**
 * From measured numbers to the servers that a load needs.
 */
@NullMarked
package dev.ratelimit.benchmarks.capacity;

import org.jspecify.annotations.NullMarked;
