package dev.ratelimit.hot;

/**
 * The number of refusals of a counter.
 *
 * @param name which counter
 * @param refusals requests that it refused in the last minute
 */
public record RefusedKey(CounterName name, long refusals) {
}
