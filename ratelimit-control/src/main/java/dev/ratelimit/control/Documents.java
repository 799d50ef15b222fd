package dev.ratelimit.control;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.web.Json;
import dev.ratelimit.web.JsonReader;

/**
 * Documents as text and back. The text of a policy also has the version before it while
 * that still decides for somebody, so that an instance needs nothing else to know what is
 * in force.
 */
final class Documents {

	private Documents() {
	}

	static Map<String, Object> parse(@Nullable String text) {
		try {
			return JsonReader.object((text != null) ? text : "");
		}
		catch (JsonReader.JsonException ex) {
			throw new InvalidChangeException("", "The text is not a JSON object: " + ex.getMessage() + ".",
					"Write the record anew.");
		}
	}

	static String text(Map<String, Object> document) {
		return Json.write(document);
	}

	static String text(PolicyText policy) {
		Map<String, Object> all = new LinkedHashMap<>();
		all.put("policy", digested(policy.document()));
		Previous previous = policy.previous();
		if (previous != null) {
			Map<String, Object> before = new LinkedHashMap<>();
			before.put("version", previous.version());
			before.put("policy", digested(previous.document()));
			all.put("previous", before);
		}
		return Json.write(all);
	}

	static PolicyText policy(@Nullable String text) {
		Map<String, Object> all = parse(text);
		Previous previous = null;
		if (all.get("previous") instanceof Map<?, ?> before && before.get("version") instanceof Number version) {
			previous = new Previous(version.longValue(), digested(object("previous.policy", before.get("policy"))));
		}
		return new PolicyText(digested(object("policy", all.get("policy"))), previous);
	}

	/**
	 * A policy without the API keys that its overrides are for: they go by their digests.
	 */
	private static Map<String, Object> digested(Map<String, Object> policy) {
		Map<String, Object> digested = new LinkedHashMap<>(policy);
		digested.replaceAll(
				(field, value) -> (FieldNames.uniform(field).equals("overrides") && value instanceof List<?> list)
						? list.stream().map((override) -> replaced(override, "when", Documents::digestedWhen)).toList()
						: value);
		return digested;
	}

	private static Object digestedWhen(Object when) {
		return replaced(when, Dimension.API_KEY.name(),
				(value) -> ApiKeyDigest.said(Dimension.API_KEY, String.valueOf(value)));
	}

	private static Object replaced(Object object, String field, UnaryOperator<Object> replacement) {
		if (!(object instanceof Map<?, ?> map)) {
			return object;
		}
		Map<Object, Object> replaced = new LinkedHashMap<>(map);
		replaced.replaceAll((name,
				value) -> (FieldNames.uniform(String.valueOf(name)).equals(FieldNames.uniform(field)) && value != null)
						? replacement.apply(value) : value);
		return replaced;
	}

	/**
	 * A JSON object.
	 * @param field where it was given
	 */
	@SuppressWarnings("unchecked")
	static Map<String, Object> object(String field, @Nullable Object value) {
		if (!(value instanceof Map)) {
			throw new InvalidChangeException(field, "'" + field + "' is not a JSON object.",
					"Send an object in the shape of 'ratelimit.policies.<id>'.");
		}
		return (Map<String, Object>) value;
	}

	/**
	 * What the store has of a policy.
	 *
	 * @param document in the shape of the configuration
	 * @param previous {@code null} if it is for everybody, or there is none
	 */
	record PolicyText(Map<String, Object> document, @Nullable Previous previous) {
	}

	/**
	 * The version that holds where the newest does not.
	 */
	record Previous(long version, Map<String, Object> document) {
	}

}
