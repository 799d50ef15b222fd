/**
 * Pseudonyms of callers: hashed values, their keys and epochs.
 */
@NullMarked
package dev.ratelimit.caller;

import org.jspecify.annotations.NullMarked;
