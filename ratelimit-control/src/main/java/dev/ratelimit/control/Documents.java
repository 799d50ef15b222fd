package dev.ratelimit.control;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.json.Json;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.json.JsonReader;
import dev.ratelimit.store.Edit;

/**
 * Documents as text and back. The text of a policy also has the previous version while
 * that still decides for some callers, so that an instance needs only this one text.
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

	/** The edit of a record with further fields, unless it deletes the record. */
	static Edit with(Map<String, Object> others, Edit edit) {
		if (others.isEmpty() || edit.body() == null) {
			return edit;
		}
		Map<String, Object> all = new LinkedHashMap<>(others);
		all.putAll(parse(edit.body()));
		return new Edit(edit.key(), Json.write(all), edit.expect());
	}

	static String text(PolicyText policy) {
		JsonObject text = new JsonObject().with("policy", digested(policy.document()));
		Previous previous = policy.previous();
		return Json.write((previous == null) ? text : text.with("previous",
				new JsonObject().with("version", previous.version()).with("policy", digested(previous.document()))));
	}

	static PolicyText policy(@Nullable String text) {
		Map<String, Object> all = parse(text);
		Previous previous = null;
		if (all.get("previous") instanceof Map<?, ?> before && before.get("version") instanceof Number version) {
			previous = new Previous(version.longValue(), digested(object("previous.policy", before.get("policy"))));
		}
		return new PolicyText(digested(object("policy", all.get("policy"))), previous);
	}

	/** A policy with digests in place of the API keys in its overrides. */
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

	@SuppressWarnings("unchecked")
	static Map<String, Object> object(String field, @Nullable Object value) {
		if (!(value instanceof Map)) {
			throw new InvalidChangeException(field, "'" + field + "' is not a JSON object.",
					"Send an object in the shape of 'ratelimit.policies.<id>'.");
		}
		return (Map<String, Object>) value;
	}

	/** A stored policy; without a previous version if it is for everybody. */
	record PolicyText(Map<String, Object> document, @Nullable Previous previous) {
	}

	/** The version for callers that the newest one is not for. */
	record Previous(long version, Map<String, Object> document) {
	}

}
