package dev.ratelimit.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;

/**
 * Why a call of the admin API was not done, as a problem document (RFC 9457).
 */
public final class AdminProblem extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final HttpStatus status;

	private final @Nullable String field;

	private final @Nullable String fix;

	private final @Nullable Long newest;

	private final transient Map<String, String> headers;

	private AdminProblem(HttpStatus status, String detail, @Nullable String field, @Nullable String fix) {
		this(status, detail, field, fix, null, Map.of());
	}

	private AdminProblem(HttpStatus status, String detail, @Nullable String field, @Nullable String fix,
			@Nullable Long newest, Map<String, String> headers) {
		super(detail, null, false, false);
		this.headers = headers;
		this.newest = newest;
		this.status = status;
		this.field = field;
		this.fix = fix;
	}

	/**
	 * A field of the body cannot be meant.
	 */
	public static AdminProblem invalid(String field, String detail, String fix) {
		return new AdminProblem(HttpStatus.BAD_REQUEST, detail, field, fix);
	}

	/**
	 * The body is no JSON object.
	 */
	public static AdminProblem unreadable(String fix) {
		return new AdminProblem(HttpStatus.BAD_REQUEST, "The body is not a JSON object", null, fix);
	}

	/**
	 * The body is of another type than what is understood.
	 */
	public static AdminProblem notJson() {
		return new AdminProblem(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "The body is not said to be JSON", "Content-Type",
				"Send it with Content-Type: application/json.");
	}

	/**
	 * The body could not be taken from the connection.
	 */
	public static AdminProblem ofBody(Exception failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof BodyTooLargeException || cause instanceof DataBufferLimitException) {
				return new AdminProblem(HttpStatus.valueOf(413),
						"The body is larger than " + BodyTooLargeException.MOST_BYTES / 1024 + " KB", "body",
						"Send less at once.");
			}
		}
		boolean type = failure instanceof ErrorResponse response
				&& response.getStatusCode().value() == HttpStatus.UNSUPPORTED_MEDIA_TYPE.value();
		return type ? notJson() : invalid("body", "The body could not be read to its end", "Send it again.");
	}

	/**
	 * An answer, or the problem that it failed with.
	 */
	public static CompletionStage<ResponseEntity<Map<String, Object>>> orResponse(
			CompletionStage<Map<String, Object>> answer) {
		return answer.thenApply(ResponseEntity::ok).exceptionally((failure) -> {
			Throwable cause = (failure instanceof CompletionException && failure.getCause() != null)
					? failure.getCause() : failure;
			if (cause instanceof AdminProblem problem) {
				return problem.response();
			}
			throw new CompletionException(cause);
		});
	}

	/**
	 * What a call is about is not there.
	 */
	public static AdminProblem missing(String field, String detail, String fix) {
		return new AdminProblem(HttpStatus.NOT_FOUND, detail, field, fix);
	}

	public static AdminProblem forbidden(String detail) {
		return new AdminProblem(HttpStatus.FORBIDDEN, detail, null, null);
	}

	public static AdminProblem forbidden() {
		return new AdminProblem(HttpStatus.FORBIDDEN, "Changes need the authority " + AdminCheck.AUTHORITY, null, null);
	}

	/**
	 * Somebody asks more often than one has to.
	 */
	public static AdminProblem tooMany(String detail, long retryAfterSeconds) {
		return new AdminProblem(HttpStatus.TOO_MANY_REQUESTS, detail, null, null, null,
				Map.of("Retry-After", Long.toString(retryAfterSeconds)));
	}

	public static AdminProblem unauthenticated() {
		return new AdminProblem(HttpStatus.UNAUTHORIZED, "A token that was verified is needed", null, null, null,
				Map.of("WWW-Authenticate", "Bearer"));
	}

	public static AdminProblem unavailable(String detail) {
		return new AdminProblem(HttpStatus.SERVICE_UNAVAILABLE, detail, null, null);
	}

	/**
	 * Something stands against it.
	 * @param newest the version that there is, {@code null} if it is not about versions
	 */
	public static AdminProblem conflict(String detail, @Nullable Long newest, String fix) {
		return new AdminProblem(HttpStatus.CONFLICT, detail, null, fix, newest, Map.of());
	}

	/**
	 * The same about a part of the body.
	 * @param place where that part is, such as {@code records[3]}
	 */
	public AdminProblem at(String place) {
		String inner = (this.field == null || this.field.isEmpty()) ? place : place + '.' + this.field;
		return new AdminProblem(this.status, String.valueOf(getMessage()), inner, this.fix, this.newest, this.headers);
	}

	/**
	 * Whether sending it once more would not help.
	 */
	boolean isCallersFault() {
		return this.status.is4xxClientError();
	}

	boolean isForbidden() {
		return this.status == HttpStatus.FORBIDDEN;
	}

	public ResponseEntity<Map<String, Object>> response() {
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
		if (this.newest != null) {
			body.put("newest", this.newest);
		}
		ResponseEntity.BodyBuilder response = ResponseEntity.status(this.status)
			.contentType(MediaType.APPLICATION_PROBLEM_JSON);
		this.headers.forEach((name, value) -> response.header(name, value));
		return response.body(body);
	}

}
