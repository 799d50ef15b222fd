/**
 * What the long commands of the lab share: results in one shape, kept in one folder, with
 * plots.
 */
@NullMarked
package dev.ratelimit.benchmarks.lab;

import org.jspecify.annotations.NullMarked;
