/**
 * For tests of applications that use ratelimit: a limiter in memory, a clock that the
 * test sets, and assertions on decisions and HTTP answers. Real servers are in
 * {@code dev.ratelimit.testing}.
 * <ul>
 * <li>the limiter: {@link TestRateLimiter} with a {@link SettableClock}</li>
 * <li>an application: {@link RateLimitTest} counts in memory, {@link TestRedis} is a real
 * Redis</li>
 * <li>assertions: {@link DecisionAssert} and {@link HttpAnswerAssert}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.test;

import org.jspecify.annotations.NullMarked;
