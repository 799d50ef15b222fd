/**
 * Counters that are kept in parts on different slots, so that the load of one hot counter
 * is not on one node.
 * <ul>
 * <li>entry: {@link SplitCounters}; a {@link PartSearch} asks one part of each
 * {@link Split} after the other, beginning where the {@link PartChoice} says, and makes a
 * {@link WholeReading}</li>
 * <li>which counters: {@link Splitting}: by their limits, or {@link MarkedSplits};
 * {@link HotSplits} changes their number for operators, {@link AutoSplit} by itself;
 * {@link PartLevels} carries the counts over</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.split;

import org.jspecify.annotations.NullMarked;
