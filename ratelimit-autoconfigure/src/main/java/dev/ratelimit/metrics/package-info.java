/**
 * Meters, as listeners of the core; all names are in {@link MeterNames}.
 * <ul>
 * <li>decisions: {@link MeterListener} with the {@link PolicyMeters} of each policy, each
 * a {@link CounterTable} that {@link StartingSeries} fills, and a
 * {@link LatencyRecorder}</li>
 * <li>everything else: {@link InstanceMeters}, {@link NodeMeters}, {@link LeaseMeters},
 * {@link StoreMeters}, {@link RolloutMeters} and {@link PenaltyMeters}</li>
 * <li>beans: {@link RateLimitMetricsAutoConfiguration}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.metrics;

import org.jspecify.annotations.NullMarked;
