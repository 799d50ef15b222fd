/**
 * What a tenant's administrator may do about the tenant's own limits, on the
 * application's own port.
 */
@NullMarked
package dev.ratelimit.selfservice;

import org.jspecify.annotations.NullMarked;
