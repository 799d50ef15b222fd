/**
 * Lets administrators of a tenant see and tighten the limits of their own tenant, on the
 * application's own port.
 */
@NullMarked
package dev.ratelimit.selfservice;

import org.jspecify.annotations.NullMarked;
