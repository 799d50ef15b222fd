package dev.ratelimit.counter;

/**
 * How often a counter is asked for.
 *
 * @param name which counter
 * @param perSecond checks in a second
 */
public record HotKey(CounterName name, long perSecond) {
}
