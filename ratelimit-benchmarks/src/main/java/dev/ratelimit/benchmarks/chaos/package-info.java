/**
 * A bad network between a gateway and its Redis, switched by the command line and over
 * HTTP.
 */
@NullMarked
package dev.ratelimit.benchmarks.chaos;

import org.jspecify.annotations.NullMarked;
