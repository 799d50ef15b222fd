/**
 * Decisions in traces.
 */
@NullMarked
package dev.ratelimit.web.tracing;

import org.jspecify.annotations.NullMarked;
