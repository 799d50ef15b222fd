/**
 * {@link MemoryCounters} counts in this process: bounded, lock-free, all-or-nothing. A
 * request is a {@link Step} over the {@link Cell} of each counter, which a {@link Swap}
 * commits in all of them or in none. {@link Records} keeps which attempts of a request
 * were admitted.
 */
@NullMarked
package dev.ratelimit.memory;

import org.jspecify.annotations.NullMarked;
