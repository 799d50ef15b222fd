/**
 * The tables of the documentation, from the JSON of all commands.
 */
@NullMarked
package dev.ratelimit.benchmarks.report;

import org.jspecify.annotations.NullMarked;
