package dev.ratelimit.json;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A JSON object that is written. Its members keep the order in which they were added.
 */
public final class JsonObject extends LinkedHashMap<String, Object> {

	/** Adds a member, unless its value is {@code null}. */
	public JsonObject with(String name, @Nullable Object value) {
		if (value != null) {
			put(name, value);
		}
		return this;
	}

	public JsonObject withAll(Map<String, ?> members) {
		putAll(members);
		return this;
	}

}
