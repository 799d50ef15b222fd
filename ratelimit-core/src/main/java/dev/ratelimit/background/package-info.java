/**
 * Background work: one loop on a thread of its own, one bounded hand-off to it, and one
 * way to log failures and to call listeners.
 */
@NullMarked
package dev.ratelimit.background;

import org.jspecify.annotations.NullMarked;
