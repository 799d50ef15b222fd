package dev.ratelimit.hot;

/**
 * The rate of requests for a counter.
 *
 * @param name which counter
 * @param perSecond checks in a second
 */
public record HotKey(CounterName name, long perSecond) {
}
