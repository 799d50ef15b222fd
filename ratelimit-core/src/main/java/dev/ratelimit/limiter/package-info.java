/**
 * The limiter: the one method in which a request is decided.
 */
@NullMarked
package dev.ratelimit.limiter;

import org.jspecify.annotations.NullMarked;
