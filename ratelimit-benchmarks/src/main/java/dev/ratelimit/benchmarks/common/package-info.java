/**
 * What the commands share: the Redis that is measured on, other processes, processor
 * time, medians, goals and the JSON of a result.
 */
@NullMarked
package dev.ratelimit.benchmarks.common;

import org.jspecify.annotations.NullMarked;
