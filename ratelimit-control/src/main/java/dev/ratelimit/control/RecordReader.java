package dev.ratelimit.control;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Reads documents in the shape of the configuration, with the same checks. All methods
 * throw an {@link InvalidChangeException} for an invalid document.
 */
public interface RecordReader {

	Policy policy(String id, long version, Map<String, Object> document);

	/**
	 * A stored policy in a form that this release accepts: an earlier one may have
	 * accepted more.
	 * @param changed gets the name of each field that differs
	 */
	Map<String, Object> upgrade(Map<String, Object> document, Consumer<String> changed);

	/**
	 * A stored policy as this release reads it: upgraded, and without the fields that it
	 * does not know, as a newer one may have written them.
	 * @param changed gets the name of each field that differs or is left out
	 */
	Policy stored(String id, long version, Map<String, Object> document, Consumer<String> changed);

	/**
	 * The quotas of {@code {"limits": {"per-tenant": "20000/s"}}}, by limit.
	 */
	Map<String, List<Quota>> override(Map<String, Object> document);

	/**
	 * The tier of {@code {"tier": "pro"}}.
	 */
	String tier(Map<String, Object> document);

	/**
	 * The dimension of this name, which was given in a field.
	 */
	Dimension dimension(String field, String name);

	/**
	 * The values of an entry of a list.
	 */
	default Map<Dimension, String> entry(RecordKey key) {
		Map<Dimension, String> entry = new HashMap<>();
		RecordIds.entry(key).forEach((name, value) -> entry.put(dimension("entry", name), value));
		return entry;
	}

	void requireEntry(Kind list, Map<Dimension, String> entry);

	/**
	 * What in a policy is valid but probably a mistake.
	 */
	List<String> warnings(Policy policy);

	/**
	 * Writes a policy in the shape of the configuration, without defaults.
	 */
	Map<String, Object> document(Policy policy);

}
