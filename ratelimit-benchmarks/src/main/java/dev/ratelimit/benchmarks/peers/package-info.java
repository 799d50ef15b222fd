/**
 * Rate limiters side by side: ours and what one would use instead, each in a JVM of its
 * own, on the same Redis.
 */
@NullMarked
package dev.ratelimit.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
