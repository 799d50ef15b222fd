/**
 * The limiter for code that speaks Reactor.
 */
@NullMarked
package dev.ratelimit.reactive;

import org.jspecify.annotations.NullMarked;
