/**
 * Lets administrators of a tenant see and tighten the limits of their own tenant, on the
 * application's own port. {@link TenantController} takes the calls of
 * {@link TenantAdmin}, each a {@link TenantRequest}; {@link TenantLimits} reads and
 * writes, {@link TenantCalls} bounds the calls of a tenant, and
 * {@link RateLimitSelfServiceAutoConfiguration} has the beans.
 */
@NullMarked
package dev.ratelimit.selfservice;

import org.jspecify.annotations.NullMarked;
