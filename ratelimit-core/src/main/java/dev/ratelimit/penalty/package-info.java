/**
 * Cool-downs and bans of callers that keep sending while they are refused. The design is
 * in {@code docs/penalties.md}.
 * <ul>
 * <li>in force here: {@link Penalties} has {@link Holds}, each a {@link Hold} of one
 * {@link CallerKey}; {@link PenaltyListener} sees what begins</li>
 * <li>offences: {@link Offenders} has an {@link Offender} with its {@link Conduct} for
 * each caller</li>
 * <li>in the fleet: {@link PenaltyExchange} reports to a {@link PenaltyStore} and follows
 * its list of each {@link Ban}; {@link Unlisted} remembers that the list was full</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.penalty;

import org.jspecify.annotations.NullMarked;
