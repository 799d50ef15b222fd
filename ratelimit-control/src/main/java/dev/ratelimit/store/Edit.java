package dev.ratelimit.store;

import org.jspecify.annotations.Nullable;

/**
 * A requested change of one record.
 *
 * @param body the new content as JSON; {@code null} deletes the record
 * @param expect the version that the editor has seen, 0 for none; {@code null} accepts
 * any
 */
public record Edit(RecordKey key, @Nullable String body, @Nullable Long expect) {
}
