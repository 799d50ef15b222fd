package dev.ratelimit.counter;

/**
 * How often a counter refuses.
 *
 * @param name which counter
 * @param refusals requests that it refused in the last minute
 */
public record RefusedKey(CounterName name, long refusals) {
}
