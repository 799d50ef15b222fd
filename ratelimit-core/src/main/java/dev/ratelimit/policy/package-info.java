/**
 * The policies in force, as an immutable snapshot, and the records about single callers
 * next to it.
 * <ul>
 * <li>the snapshot: {@link PolicySet}, changed by {@link PolicySetBuilder}; its
 * {@link PolicyTable} has the {@link PolicyVersions} of each policy, each a
 * {@link CompiledPolicy}; a request gets a {@link Match}</li>
 * <li>what counters count by: {@link Specs}, {@link PolicyWindows} and
 * {@link LatestResults}, which keep specs and windows while policies change</li>
 * <li>records about callers: {@link CallerRecords} with {@link Overrides}, each an
 * {@link OverrideRecord} whose quotas are {@link RecordedQuotas}, and the
 * {@link TenantCap} of a tenant</li>
 * <li>lists: {@link AccessList} and {@link ListEntries}</li>
 * <li>look-up: {@link CallerIndex} finds records and entries by {@link Facts},
 * {@link KeyForm} and {@link ValuePattern}</li>
 * <li>rollouts: {@link CallerShare} says who is in it; the {@link Comparison} counts what
 * a {@link VersionPair} decides, and {@link RolloutJudge} judges each {@link Tally} and
 * {@link BucketTally}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.policy;

import org.jspecify.annotations.NullMarked;
