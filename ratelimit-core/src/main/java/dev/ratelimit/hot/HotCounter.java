package dev.ratelimit.hot;

import org.jspecify.annotations.Nullable;

/**
 * A counter with a lot of traffic, or one that is marked.
 *
 * @param name which counter
 * @param perSecond checks in the last full second, over the fleet
 * @param hot whether it is treated as hot
 * @param mark its mark, {@code null} if there is none
 */
public record HotCounter(CounterName name, long perSecond, boolean hot, @Nullable HotMark mark) {
}
