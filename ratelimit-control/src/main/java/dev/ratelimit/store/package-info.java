/**
 * Records with versions, the stores that keep them, and an instance's copy of them.
 */
@NullMarked
package dev.ratelimit.store;

import org.jspecify.annotations.NullMarked;
