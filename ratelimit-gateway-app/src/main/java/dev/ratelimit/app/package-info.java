/**
 * The runnable gateway and its access rules. All limits come from the starter.
 */
@NullMarked
package dev.ratelimit.app;

import org.jspecify.annotations.NullMarked;
