package dev.ratelimit.control;

import dev.ratelimit.store.RecordKey;

/**
 * A version in the store that cannot be meant. What was in force before it stays so.
 *
 * @param key of which record
 * @param version which version
 * @param message what is wrong and what to do
 */
public record Rejected(RecordKey key, long version, String message) {
}
