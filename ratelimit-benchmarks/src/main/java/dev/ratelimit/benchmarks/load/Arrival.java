package dev.ratelimit.benchmarks.load;

/**
 * A request that is due.
 *
 * @param dueNanos when, counted from the start of the run
 * @param key whose, a number from 0
 * @param cost permits that it asks for
 */
public record Arrival(long dueNanos, int key, int cost) {
}
