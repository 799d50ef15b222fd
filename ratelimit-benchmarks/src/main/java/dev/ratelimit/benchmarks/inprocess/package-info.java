/**
 * What a decision costs within the process, by JMH.
 */
@NullMarked
package dev.ratelimit.benchmarks.inprocess;

import org.jspecify.annotations.NullMarked;
