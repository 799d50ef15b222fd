/**
 * Decides in-process in place of Redis: by permits taken ahead, and by refusals that
 * still hold.
 */
@NullMarked
package dev.ratelimit.lease;

import org.jspecify.annotations.NullMarked;
