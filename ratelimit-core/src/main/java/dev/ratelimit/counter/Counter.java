package dev.ratelimit.counter;

/**
 * The state of one limit for one combination of dimension values, wherever it is kept.
 *
 * @param spec how it counts
 * @param key where it is kept; never shows a value that a caller controls
 */
public record Counter(CounterSpec spec, String key) {
}
