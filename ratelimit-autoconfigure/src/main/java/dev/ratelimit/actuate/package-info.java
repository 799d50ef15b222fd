/**
 * Administration and state through the actuator.
 * <ul>
 * <li>the endpoint: {@link RateLimitEndpoint}, offered by
 * {@link RateLimitEndpointAutoConfiguration}; {@link RateLimitDoorsAutoConfiguration}
 * gives other doors the same access; {@link AdminPaths} and
 * {@link EncodedSlashWebFilter}</li>
 * <li>health: {@link RateLimitHealth}, by {@link RateLimitHealthAutoConfiguration}</li>
 * <li>audit: {@link AuditEvents} of Boot, by
 * {@link RateLimitAuditEventsAutoConfiguration}; {@link DeniedAttempts} of
 * {@link AuditedAccessDeniedHandler} and {@link ServletDeniedListener}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.actuate;

import org.jspecify.annotations.NullMarked;
