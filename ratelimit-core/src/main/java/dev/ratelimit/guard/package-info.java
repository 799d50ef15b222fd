/**
 * Keeps checks from waiting for nodes that do not answer: a deadline for each call, a
 * breaker for each node.
 */
@NullMarked
package dev.ratelimit.guard;

import org.jspecify.annotations.NullMarked;
