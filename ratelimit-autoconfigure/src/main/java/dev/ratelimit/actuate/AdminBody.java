package dev.ratelimit.actuate;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ForcedMode;
import dev.ratelimit.admin.AdminProblem;

/**
 * The body of a call that changes policies or records: a JSON object whose fields are all
 * known.
 */
final class AdminBody {

	private final Map<String, Object> fields;

	private AdminBody(Map<String, Object> fields) {
		this.fields = fields;
	}

	/**
	 * A body.
	 * @param example shown if there is none
	 */
	static AdminBody of(@Nullable Map<String, Object> fields, String example) {
		if (fields == null) {
			throw AdminProblem.unreadable(example);
		}
		return new AdminBody(fields);
	}

	AdminBody requireOnly(String... names) {
		List<String> known = List.of(names);
		for (String field : this.fields.keySet()) {
			if (!known.contains(field)) {
				throw AdminProblem.invalid(ForcedMode.printable(field), "There is no such field",
						"Use " + String.join(", ", known) + ".");
			}
		}
		return this;
	}

	/**
	 * Whatever a field says.
	 * @param example shown if it says nothing
	 */
	Object required(String field, String example) {
		Object value = this.fields.get(field);
		if (value == null) {
			throw AdminProblem.invalid(field, "This field is missing", example);
		}
		return value;
	}

	boolean has(String field) {
		return this.fields.get(field) != null;
	}

	@SuppressWarnings("unchecked")
	Map<String, Object> object(String field) {
		if (!(this.fields.get(field) instanceof Map<?, ?> map)) {
			throw AdminProblem.invalid(field, has(field) ? "This is not an object" : "This field is missing",
					"Send a JSON object.");
		}
		return (Map<String, Object>) map;
	}

	List<?> list(String field) {
		if (!(this.fields.get(field) instanceof List<?> list)) {
			throw AdminProblem.invalid(field, has(field) ? "This is not a list" : "This field is missing",
					"Send a JSON list.");
		}
		return list;
	}

	String text(String field) {
		if (!(this.fields.get(field) instanceof String text) || text.isBlank()) {
			throw AdminProblem.invalid(field, has(field) ? "This is not a text" : "This field is missing",
					"Send a text.");
		}
		return text;
	}

	@Nullable Long number(String field) {
		Object value = this.fields.get(field);
		if (value == null) {
			return null;
		}
		if (!(value instanceof Integer || value instanceof Long) || ((Number) value).longValue() < 0) {
			throw AdminProblem.invalid(field, "This is not a version", "Send a whole number, 0 or more.");
		}
		return ((Number) value).longValue();
	}

	boolean flag(String field) {
		Object value = this.fields.get(field);
		if (value != null && !(value instanceof Boolean)) {
			throw AdminProblem.invalid(field, "This is neither true nor false", "Send true or false.");
		}
		return Boolean.TRUE.equals(value);
	}

}
