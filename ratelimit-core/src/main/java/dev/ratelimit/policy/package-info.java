/**
 * The policies in force, as an immutable snapshot.
 */
@NullMarked
package dev.ratelimit.policy;

import org.jspecify.annotations.NullMarked;
