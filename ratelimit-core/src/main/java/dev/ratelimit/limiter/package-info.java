/**
 * Decides requests. {@link PolicyRateLimiter} has the one method that knows the order.
 * <ul>
 * <li>a check: {@link Check} is its only future; {@link CounterResolver} finds its
 * counters; {@link Unknowns} completes a request of which something is not known</li>
 * <li>without all counters: {@link UnansweredChecks} and {@link Degradation}, with the
 * counters of a {@link Fallback}</li>
 * <li>true costs: {@link Settles} with {@link GrantReceipt}, {@link SettlingReceipt} and
 * {@link ReceiptCodec}</li>
 * <li>next to it: {@link PenaltyRefusals}, {@link TrialRunner} for versions on trial, and
 * {@link Observers}, which calls listeners</li>
 * <li>for operators: {@link CallerUsage} and {@link LimitUsage};
 * {@link LimiterOptions}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.limiter;

import org.jspecify.annotations.NullMarked;
