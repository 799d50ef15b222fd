/**
 * {@link ReactiveRateLimiter}, the limiter for code that uses Reactor.
 */
@NullMarked
package dev.ratelimit.reactive;

import org.jspecify.annotations.NullMarked;
