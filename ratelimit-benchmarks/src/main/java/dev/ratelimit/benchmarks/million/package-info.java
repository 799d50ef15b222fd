/**
 * How many decisions an instance makes: over five million callers as many as it can, over
 * three thousand a million a second.
 */
@NullMarked
package dev.ratelimit.benchmarks.million;

import org.jspecify.annotations.NullMarked;
