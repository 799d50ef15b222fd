/**
 * Background work. The core starts its threads here, except the one of
 * {@code dev.ratelimit.guard.Deadlines}.
 * <ul>
 * <li>threads: {@link Loop} runs turns on a thread of its own until it is closed;
 * {@link Handoff} is the bounded queue to it</li>
 * <li>failures: {@link FailureLog} logs the first failure and the recovery;
 * {@link Listeners} calls listeners that may throw; {@link Futures} awaits and
 * unwraps</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.background;

import org.jspecify.annotations.NullMarked;
