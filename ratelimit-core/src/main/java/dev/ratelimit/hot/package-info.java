/**
 * Finds the counters with the most traffic and with the most refusals, over the whole
 * fleet.
 * <ul>
 * <li>counting: {@link HotCounters} counts in a {@link Sketch}, whose busiest are each a
 * {@link Candidate}; {@link Thresholds} say from when a counter is hot;
 * {@link TopRefusals} counts refusals</li>
 * <li>sharing: {@link HotExchange} sends each {@link HotKey} and {@link RefusedKey} to a
 * {@link HotStore}, or to {@link LocalHotStore} without a fleet, and takes over the
 * {@link FleetView}</li>
 * <li>shown: {@link HotCounter}, its {@link CounterName} and the {@link HotMark} of an
 * operator</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.hot;

import org.jspecify.annotations.NullMarked;
