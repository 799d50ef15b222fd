package dev.ratelimit.control;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.json.JsonParseException;
import org.springframework.boot.json.JsonParser;
import org.springframework.boot.json.JsonParserFactory;

import dev.ratelimit.web.Json;

/**
 * Documents as text and back. The text of a policy also has the version before it while
 * that still decides for somebody, so that an instance needs nothing else to know what is
 * in force.
 */
final class Documents {

	/** Making one takes longer than parsing. */
	private static final JsonParser PARSER = JsonParserFactory.getJsonParser();

	private Documents() {
	}

	static Map<String, Object> parse(@Nullable String text) {
		try {
			return PARSER.parseMap(text);
		}
		catch (JsonParseException ex) {
			throw new InvalidChangeException("", "The text is not a JSON object.", "Write the record anew.");
		}
	}

	static String text(Map<String, Object> document) {
		return Json.write(document);
	}

	static String text(PolicyText policy) {
		Map<String, Object> all = new LinkedHashMap<>();
		all.put("policy", policy.document());
		Previous previous = policy.previous();
		if (previous != null) {
			Map<String, Object> before = new LinkedHashMap<>();
			before.put("version", previous.version());
			before.put("policy", previous.document());
			all.put("previous", before);
		}
		return Json.write(all);
	}

	static PolicyText policy(@Nullable String text) {
		Map<String, Object> all = parse(text);
		Previous previous = null;
		if (all.get("previous") instanceof Map<?, ?> before && before.get("version") instanceof Number version) {
			previous = new Previous(version.longValue(), object("previous.policy", before.get("policy")));
		}
		return new PolicyText(object("policy", all.get("policy")), previous);
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
