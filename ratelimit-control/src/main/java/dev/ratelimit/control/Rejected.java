package dev.ratelimit.control;

import dev.ratelimit.store.RecordKey;

/**
 * An invalid version in the store, or an invalid entry of the configuration (version 0).
 * The last valid version stays in force.
 *
 * @param key the record; for a whole list of the configuration, its property
 * @param message what is wrong and what to do
 */
public record Rejected(RecordKey key, long version, String message) {
}
