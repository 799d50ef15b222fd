/**
 * What is decided in-process on Redis's behalf: permits taken ahead, and refusals that
 * still hold.
 */
@NullMarked
package dev.ratelimit.lease;

import org.jspecify.annotations.NullMarked;
