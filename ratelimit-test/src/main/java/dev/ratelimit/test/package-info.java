/**
 * For tests of applications that use ratelimit: a limiter in memory, a clock that the
 * test sets, and assertions on decisions and HTTP answers. Real servers are in
 * {@code dev.ratelimit.testing}.
 */
@NullMarked
package dev.ratelimit.test;

import org.jspecify.annotations.NullMarked;
