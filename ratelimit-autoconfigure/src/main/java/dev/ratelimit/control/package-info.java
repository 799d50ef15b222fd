/**
 * Policies and records as versioned data: what administrators change at run time, and how
 * it comes into force on this instance.
 */
@NullMarked
package dev.ratelimit.control;

import org.jspecify.annotations.NullMarked;
