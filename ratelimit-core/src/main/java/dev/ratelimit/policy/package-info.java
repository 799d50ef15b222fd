/**
 * The policies in force, as an immutable snapshot, and what is said about single callers
 * beside it.
 */
@NullMarked
package dev.ratelimit.policy;

import org.jspecify.annotations.NullMarked;
