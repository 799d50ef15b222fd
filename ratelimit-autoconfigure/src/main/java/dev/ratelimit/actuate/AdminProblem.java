package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;

/**
 * Why a call of the admin API was not done, as a problem document (RFC 9457).
 */
final class AdminProblem extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final HttpStatus status;

	private final @Nullable String field;

	private final @Nullable String fix;

	private AdminProblem(HttpStatus status, String detail, @Nullable String field, @Nullable String fix) {
		super(detail, null, false, false);
		this.status = status;
		this.field = field;
		this.fix = fix;
	}

	/**
	 * A field of the body cannot be meant.
	 */
	static AdminProblem invalid(String field, String detail, String fix) {
		return new AdminProblem(HttpStatus.BAD_REQUEST, detail, field, fix);
	}

	/**
	 * The body is no JSON object.
	 */
	static AdminProblem unreadable(String fix) {
		return new AdminProblem(HttpStatus.BAD_REQUEST, "The body is not a JSON object", null, fix);
	}

	static AdminProblem forbidden() {
		return new AdminProblem(HttpStatus.FORBIDDEN, "Changes need the authority " + AdminCheck.AUTHORITY, null, null);
	}

	static AdminProblem unavailable(String detail) {
		return new AdminProblem(HttpStatus.SERVICE_UNAVAILABLE, detail, null, null);
	}

	boolean isForbidden() {
		return this.status == HttpStatus.FORBIDDEN;
	}

	ResponseEntity<Map<String, Object>> response() {
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("type", "about:blank");
		body.put("title", this.status.getReasonPhrase());
		body.put("status", this.status.value());
		body.put("detail", String.valueOf(getMessage()));
		if (this.field != null) {
			body.put("field", this.field);
		}
		if (this.fix != null) {
			body.put("fix", this.fix);
		}
		return ResponseEntity.status(this.status).contentType(MediaType.APPLICATION_PROBLEM_JSON).body(body);
	}

}
