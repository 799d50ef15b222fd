package dev.ratelimit.store;

import org.jspecify.annotations.Nullable;

/**
 * A change that somebody wants.
 *
 * @param key which record
 * @param body what it says from now on, as JSON; {@code null} deletes it
 * @param expect the version that the editor has seen, 0 for none; {@code null} if it does
 * not matter
 */
public record Edit(RecordKey key, @Nullable String body, @Nullable Long expect) {
}
