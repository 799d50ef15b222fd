package dev.ratelimit.control;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Makes of documents what they say, and checks it as the configuration is checked. All
 * methods throw an {@link InvalidChangeException} for what cannot be meant.
 */
public interface RecordReader {

	/**
	 * A policy.
	 * @param document in the shape of the configuration
	 */
	Policy policy(String id, long version, Map<String, Object> document);

	/**
	 * A policy that is in the store, as it would have to be written today: an earlier
	 * release may have accepted what is refused now.
	 * @param document in the shape of the configuration
	 * @param changed gets the name of each field that is not as it was
	 */
	Map<String, Object> upgrade(Map<String, Object> document, Consumer<String> changed);

	/**
	 * The quotas of an override, by the name of the limit.
	 * @param document {@code {"limits": {"per-tenant": "20000/s"}}}
	 */
	Map<String, List<Quota>> override(Map<String, Object> document);

	/**
	 * The tier that a caller is given.
	 * @param document {@code {"tier": "pro"}}
	 */
	String tier(Map<String, Object> document);

	/**
	 * A dimension of that name.
	 * @param field where the name was given
	 */
	Dimension dimension(String field, String name);

	/**
	 * Checks an entry of a list.
	 */
	void requireEntry(Kind list, Map<Dimension, String> entry);

	/**
	 * The other way round: a policy in the shape of the configuration, without what it
	 * has by default.
	 */
	Map<String, Object> document(Policy policy);

}
