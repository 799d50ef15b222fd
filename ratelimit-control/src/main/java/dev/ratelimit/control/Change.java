package dev.ratelimit.control;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.RecordKey;

/**
 * A requested change of one record.
 *
 * @param document the new content in the shape of the configuration; {@code null} deletes
 * the record
 * @param expect the version that the editor has seen, 0 for none; {@code null} accepts
 * any
 */
public record Change(RecordKey key, @Nullable Map<String, Object> document, @Nullable Long expect) {
}
