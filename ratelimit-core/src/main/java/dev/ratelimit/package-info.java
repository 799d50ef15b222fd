/**
 * The vocabulary. It depends on no other package, and every package may use it.
 * <ul>
 * <li>what limits: {@link Policy}, made by {@link PolicyBuilder}, with {@link Limit},
 * {@link Quota}, {@link Dimension}, {@link Tier}, {@link PolicyOverride},
 * {@link Rollout}, {@link Settling}, {@link Penalty} and {@link Idempotency}</li>
 * <li>its choices: {@link Algorithm}, {@link Enforcement}, {@link FailureMode} and
 * {@link MissingIdentity}, each written as {@link EnumText}</li>
 * <li>a check: {@link RateLimiter} decides a {@link Request}; {@link DecisionListener}
 * sees the {@link Decision}, which has a {@link LimitStatus} for each quota</li>
 * <li>after the check: {@link Receipt}, {@link Settlement} and {@link Reservation}</li>
 * <li>values: {@link IpAddress}, {@link ApiKeyDigest}, {@link Sha256},
 * {@link PrintableText}, and for the stores {@link WindowTag} and {@link Work}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit;

import org.jspecify.annotations.NullMarked;
