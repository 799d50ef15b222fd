package dev.ratelimit.control;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.RecordKey;

/**
 * One record as somebody wants it to be.
 *
 * @param key which record
 * @param document what it says from now on, in the shape of the configuration;
 * {@code null} deletes it
 * @param expect the version that the editor has seen, 0 for none; {@code null} if it does
 * not matter
 */
public record Change(RecordKey key, @Nullable Map<String, Object> document, @Nullable Long expect) {
}
