/**
 * Decides in-process in place of Redis: by permits taken ahead, and by refusals that
 * still hold.
 * <ul>
 * <li>entry: {@link LeasedCounters}, with {@link LeaseOptions} and {@link LeaseListener};
 * {@link DeniedCache} remembers refusals</li>
 * <li>permits taken ahead: {@link LocalCounters} has a {@link LocalCounter} for each
 * counter, with {@link Leases} under each {@link LeasedSpec}; {@link LeaseSize} and
 * {@link LargestCosts} say how many permits a {@link Lease} has</li>
 * <li>paying: {@link Payment} by a lease, {@link LeasedReading} and
 * {@link LeasedReadings} for the grant; {@link PartlyPaid} is a request that needs Redis
 * too</li>
 * <li>calls: {@link LeaseCalls}; requests wait at a {@link Gate} for calls of others, and
 * go on by {@link Resumption}</li>
 * <li>afterwards: {@link Refunds} settles true costs</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.lease;

import org.jspecify.annotations.NullMarked;
