/**
 * Decisions in traces: {@link ObservedCalls}, wired by
 * {@link RateLimitTracingAutoConfiguration}.
 */
@NullMarked
package dev.ratelimit.web.tracing;

import org.jspecify.annotations.NullMarked;
