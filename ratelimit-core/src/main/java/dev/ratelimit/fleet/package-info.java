/**
 * The instances that share limits, and the switch that forces a failure mode on all of
 * them.
 * <ul>
 * <li>instances: {@link Fleet} knows how many there are; {@link HeartbeatListener} and
 * {@link Heartbeats} keep that number; {@link FleetRevisions} says what each has
 * read</li>
 * <li>the switch: {@link ModeSwitch} has the {@link ForcedMode}, which a
 * {@link SwitchStore} keeps or fails with a {@link SwitchNotWrittenException}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.fleet;

import org.jspecify.annotations.NullMarked;
