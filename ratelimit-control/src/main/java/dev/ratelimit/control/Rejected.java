package dev.ratelimit.control;

import dev.ratelimit.store.RecordKey;

/**
 * A version in the store, or version 0 in the configuration, that cannot be meant. What
 * was in force before it stays so.
 *
 * @param key of which record; a whole list of the configuration goes by its property
 * @param version which version
 * @param message what is wrong and what to do
 */
public record Rejected(RecordKey key, long version, String message) {
}
