/**
 * The five algorithms as pure functions over (state, now, permits), in whole numbers
 * only.
 * <ul>
 * <li>the functions: {@link Formula}, implemented by {@link Gcra} (also the token
 * bucket), {@link FixedWindow}, {@link SlidingWindowCounter} and
 * {@link SlidingWindowLog}; {@link PerQuota} is the base of those with a block of numbers
 * per quota</li>
 * <li>the numbers of a quota: {@link Pace}</li>
 * <li>callers with different quotas share a counter: {@link LiveWindow} and
 * {@link LiveWindows} are the windows that it needs</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.algorithm;

import org.jspecify.annotations.NullMarked;
