/**
 * The policies in force, as an immutable snapshot, and the records about single callers.
 */
@NullMarked
package dev.ratelimit.policy;

import org.jspecify.annotations.NullMarked;
