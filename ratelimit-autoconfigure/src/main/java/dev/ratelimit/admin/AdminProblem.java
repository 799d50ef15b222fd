package dev.ratelimit.admin;

import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;

import dev.ratelimit.json.JsonObject;

/**
 * Why a call of the admin API was not done, as a problem document (RFC 9457).
 */
public final class AdminProblem extends RuntimeException {

	private final HttpStatus status;

	/** What the document has besides the members of the RFC. */
	private final JsonObject members;

	private final transient Map<String, String> headers;

	private AdminProblem(HttpStatus status, String detail, JsonObject members) {
		this(status, detail, members, Map.of());
	}

	private AdminProblem(HttpStatus status, String detail, JsonObject members, Map<String, String> headers) {
		super(detail, null, false, false);
		this.status = status;
		this.members = members;
		this.headers = headers;
	}

	public static AdminProblem invalid(String field, String detail, String fix) {
		return new AdminProblem(HttpStatus.BAD_REQUEST, detail, members(field, fix));
	}

	/**
	 * The call has no JSON object as its body.
	 */
	static AdminProblem unreadable(String fix) {
		return new AdminProblem(HttpStatus.BAD_REQUEST, "The body is not a JSON object", members(null, fix));
	}

	static AdminProblem notJson() {
		return new AdminProblem(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "The Content-Type of the body is not JSON",
				members("Content-Type", "Send it with Content-Type: application/json."));
	}

	static AdminProblem tooLarge(int mostBytes) {
		return new AdminProblem(HttpStatus.valueOf(413), "The body is larger than " + mostBytes / 1024 + " KB",
				members("body", "Send less at once."));
	}

	static AdminProblem missing(String field, String detail, String fix) {
		return new AdminProblem(HttpStatus.NOT_FOUND, detail, members(field, fix));
	}

	public static AdminProblem forbidden(String detail) {
		return new AdminProblem(HttpStatus.FORBIDDEN, detail, new JsonObject());
	}

	/**
	 * The caller has to wait before the next call.
	 */
	public static AdminProblem tooMany(String detail, long retryAfterSeconds) {
		return new AdminProblem(HttpStatus.TOO_MANY_REQUESTS, detail, new JsonObject(),
				Map.of("Retry-After", Long.toString(retryAfterSeconds)));
	}

	public static AdminProblem unauthenticated() {
		return new AdminProblem(HttpStatus.UNAUTHORIZED, "The call needs a verified token", new JsonObject(),
				Map.of("WWW-Authenticate", "Bearer"));
	}

	static AdminProblem unavailable(String detail) {
		return new AdminProblem(HttpStatus.SERVICE_UNAVAILABLE, detail, new JsonObject());
	}

	/**
	 * The current state does not allow the change.
	 * @param newest the current version, {@code null} if the conflict is not about
	 * versions
	 */
	static AdminProblem conflict(String detail, @Nullable Long newest, String fix) {
		return new AdminProblem(HttpStatus.CONFLICT, detail, members(null, fix).with("newest", newest));
	}

	private static JsonObject members(@Nullable String field, @Nullable String fix) {
		return new JsonObject().with("field", field).with("fix", fix);
	}

	/**
	 * The same problem in a part of the body.
	 * @param place where that part is, such as {@code records[3]}
	 */
	AdminProblem at(String place) {
		Object field = this.members.getOrDefault("field", "");
		JsonObject moved = new JsonObject().with("field", field.equals("") ? place : place + '.' + field)
			.with("fix", this.members.get("fix"))
			.with("newest", this.members.get("newest"));
		return new AdminProblem(this.status, String.valueOf(getMessage()), moved, this.headers);
	}

	/**
	 * Whether the same call would fail again.
	 */
	boolean isCallersFault() {
		return this.status.is4xxClientError();
	}

	boolean isForbidden() {
		return this.status == HttpStatus.FORBIDDEN;
	}

	public ResponseEntity<Map<String, Object>> response() {
		ResponseEntity.BodyBuilder response = ResponseEntity.status(this.status)
			.contentType(MediaType.APPLICATION_PROBLEM_JSON);
		this.headers.forEach((name, value) -> response.header(name, value));
		return response.body(new JsonObject().with("type", "about:blank")
			.with("title", this.status.getReasonPhrase())
			.with("status", this.status.value())
			.with("detail", getMessage())
			.withAll(this.members));
	}

}
