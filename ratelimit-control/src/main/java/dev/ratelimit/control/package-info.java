/**
 * Changes at run time: checks and writes them, and puts them in force on this instance.
 * <ul>
 * <li>writing: {@link ControlPlane}, by an {@link Author}; {@link ChangeCheck} checks,
 * {@link RecordWrites} writes each {@link Change} of a record about a caller,
 * {@link StoreAccess} translates what the store fails with</li>
 * <li>reading: {@link RecordReader} turns a document into a policy; {@link Documents},
 * {@link RecordIds} and {@link FieldNames} say how records look</li>
 * <li>in force: {@link LivePolicies} over a {@link Configuration}; {@link RecordEffects}
 * for records about callers; {@link RejectedVersions} has each {@link Rejected} one;
 * {@link ReloadListener}</li>
 * <li>rollouts: {@link RolloutLeader} takes each {@link RolloutStep} by
 * {@link RolloutWrites}, judging the {@link RolloutCounts} of {@link RolloutTallies};
 * {@link RolloutState} and {@link RolloutListener} show it</li>
 * <li>who names a policy: {@link PolicyUses}</li>
 * <li>failures: {@link InvalidChangeException}, {@link NotFoundException},
 * {@link PolicyInUseException} and {@link StoreUnavailableException}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.control;

import org.jspecify.annotations.NullMarked;
