package dev.ratelimit.hot;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.CounterName;
import dev.ratelimit.counter.HotMark;

/**
 * A counter with a lot of traffic, or one that is marked.
 *
 * @param name which counter
 * @param perSecond checks in the last full second, over the fleet
 * @param hot whether it is taken for hot
 * @param mark the operator's mark, {@code null} if there is none
 */
public record HotCounter(CounterName name, long perSecond, boolean hot, @Nullable HotMark mark) {
}
