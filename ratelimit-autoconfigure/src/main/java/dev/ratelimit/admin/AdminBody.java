package dev.ratelimit.admin;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpEntity;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

import dev.ratelimit.ForcedMode;
import dev.ratelimit.web.JsonReader;

/**
 * The body of a call that changes something: a JSON object whose fields are all known.
 * Read here and not by the application's converters, which differ in what they let pass.
 * What is wrong with it is told when somebody wants a field, so that the call is in the
 * trail by then.
 */
public final class AdminBody {

	private static final MediaType ANY_JSON = new MediaType("application", "*+json");

	private final @Nullable Map<String, Object> fields;

	private final @Nullable AdminProblem problem;

	private AdminBody(@Nullable Map<String, Object> fields, @Nullable AdminProblem problem) {
		this.fields = fields;
		this.problem = problem;
	}

	/**
	 * The body of a request.
	 * @param query what stands behind the question mark, where such a call says nothing
	 */
	public static AdminBody of(Map<String, String> query, HttpEntity<byte[]> request) {
		byte[] body = request.getBody();
		boolean empty = body == null || body.length == 0;
		// First, as a form is part of the query to servlets.
		if (!empty && !isJson(request.getHeaders().getFirst("Content-Type"))) {
			return new AdminBody(null, AdminProblem.notJson());
		}
		try {
			AdminQuery.of(query);
			return new AdminBody((body != null && !empty) ? JsonReader.object(body) : null, null);
		}
		catch (AdminProblem ex) {
			return new AdminBody(null, ex);
		}
		catch (JsonReader.JsonException ex) {
			return new AdminBody(null, AdminProblem.invalid("body", "The body is not a JSON object: " + ex.getMessage(),
					"Correct it at that place."));
		}
	}

	/**
	 * A part of a body.
	 */
	public static AdminBody of(Map<String, Object> fields) {
		return new AdminBody(fields, null);
	}

	/**
	 * The reason that it gives, even if the rest of it makes no sense.
	 */
	public String reason() {
		Object reason = (this.fields != null) ? this.fields.get("reason") : null;
		return (reason != null) ? ForcedMode.printable(reason.toString()) : "";
	}

	/**
	 * What a field says, {@code null} if nothing or if there is no body.
	 */
	public @Nullable Object get(String field) {
		return (this.fields != null) ? this.fields.get(field) : null;
	}

	/**
	 * All fields.
	 * @param example shown if there are none
	 */
	public Map<String, Object> fields(String example) {
		if (this.problem != null) {
			throw this.problem;
		}
		if (this.fields == null) {
			throw AdminProblem.unreadable(example);
		}
		Object reason = this.fields.get("reason");
		if (reason != null && !(reason instanceof String)) {
			throw AdminProblem.invalid("reason", "This is not a text", "Send a text.");
		}
		AdminQuery.requireReason((String) reason);
		return this.fields;
	}

	/**
	 * Checks that there are only fields of these names.
	 * @param example shown if there are none
	 */
	public AdminBody requireOnly(String example, List<String> names) {
		for (String field : fields(example).keySet()) {
			if (!names.contains(field)) {
				throw AdminProblem.invalid(ForcedMode.printable(field), "There is no such field",
						"Use " + String.join(", ", names) + ".");
			}
		}
		return this;
	}

	/**
	 * Whatever a field says.
	 * @param example shown if it says nothing
	 */
	public Object required(String field, String example) {
		Object value = get(field);
		if (value == null) {
			throw AdminProblem.invalid(field, "This field is missing", example);
		}
		return value;
	}

	public boolean has(String field) {
		return get(field) != null;
	}

	@SuppressWarnings("unchecked")
	public Map<String, Object> object(String field) {
		if (!(get(field) instanceof Map<?, ?> map)) {
			throw AdminProblem.invalid(field, has(field) ? "This is not an object" : "This field is missing",
					"Send a JSON object.");
		}
		return (Map<String, Object>) map;
	}

	public List<?> list(String field) {
		if (!(get(field) instanceof List<?> list)) {
			throw AdminProblem.invalid(field, has(field) ? "This is not a list" : "This field is missing",
					"Send a JSON list.");
		}
		return list;
	}

	public String text(String field) {
		if (!(get(field) instanceof String text) || text.isBlank()) {
			throw AdminProblem.invalid(field, has(field) ? "This is not a text" : "This field is missing",
					"Send a text.");
		}
		return text;
	}

	/**
	 * A number of a version, {@code null} if there is none.
	 */
	public @Nullable Long version(String field) {
		Object value = get(field);
		if (value == null) {
			return null;
		}
		if (!(value instanceof Integer || value instanceof Long) || ((Number) value).longValue() < 0) {
			throw AdminProblem.invalid(field, "This is not a version", "Send a whole number, 0 or more.");
		}
		return ((Number) value).longValue();
	}

	public boolean flag(String field) {
		Object value = get(field);
		if (value != null && !(value instanceof Boolean)) {
			throw AdminProblem.invalid(field, "This is neither true nor false", "Send true or false.");
		}
		return Boolean.TRUE.equals(value);
	}

	private static boolean isJson(@Nullable String contentType) {
		try {
			MediaType type = (contentType != null) ? MediaType.parseMediaType(contentType)
					: MediaType.APPLICATION_OCTET_STREAM;
			return MediaType.APPLICATION_JSON.includes(type) || ANY_JSON.includes(type);
		}
		catch (InvalidMediaTypeException ex) {
			return false;
		}
	}

}
