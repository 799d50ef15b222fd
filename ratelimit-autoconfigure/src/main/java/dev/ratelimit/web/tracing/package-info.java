/**
 * What traces are told.
 */
@NullMarked
package dev.ratelimit.tracing;

import org.jspecify.annotations.NullMarked;
