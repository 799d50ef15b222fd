/**
 * Keeps checks from waiting for nodes that do not answer.
 * <ul>
 * <li>entry: {@link GuardedCounters} asks each slot of a request by a call of its own;
 * {@link Levelling} makes one grant of their answers</li>
 * <li>a call: {@link GuardedCall}, with {@link GuardedAttempt}, {@link GuardedRefill} and
 * {@link GuardedSettle} for those that may repeat or last longer; {@link Deadlines} is
 * the wheel that ends them</li>
 * <li>a node: {@link Nodes} has a {@link Node} for each, with a breaker that counts in a
 * {@link LockFreeWindow}; {@link BreakerOptions}, {@link BreakerState},
 * {@link NodeListener} and {@link NodeListeners}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.guard;

import org.jspecify.annotations.NullMarked;
