/**
 * Counters, and the one interface of storage.
 * <ul>
 * <li>storage: {@link Counters}; {@link NodeCounters} also says which node keeps a
 * counter, and takes each request as a {@link NodeCall}</li>
 * <li>what is counted: {@link Counter}, named by {@link CounterKeys} and placed by
 * {@link SlotTags}, counts by a {@link CounterSpec}</li>
 * <li>question and answer: {@link Permits} are wanted; the {@link Grant} has a
 * {@link Reading} of each counter, and a gap with an {@link UnansweredException} where
 * there is none; {@link Statuses} are computed when they are read</li>
 * <li>requests that are sent again: {@link Attempt} and {@link AttemptReading}</li>
 * <li>true costs: {@link Correction} and {@link Corrected}</li>
 * <li>for the layers: {@link Demand} says which counters are hot, {@link Refill} is a
 * call that others wait for, {@link Timer} runs a task later</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.counter;

import org.jspecify.annotations.NullMarked;
