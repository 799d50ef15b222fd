/**
 * Counters: their keys, how they count, and {@link dev.ratelimit.counter.Counters}, the
 * one interface of storage.
 */
@NullMarked
package dev.ratelimit.counter;

import org.jspecify.annotations.NullMarked;
