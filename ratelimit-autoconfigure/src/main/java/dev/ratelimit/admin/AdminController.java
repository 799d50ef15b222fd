package dev.ratelimit.admin;

import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpStatus;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.util.MultiValueMap;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.server.ResponseStatusException;

import dev.ratelimit.PrintableText;
import dev.ratelimit.json.JsonReader;

/**
 * A controller of the admin API: reads the fields of its calls, and turns failures into
 * problem responses, whether they are thrown or a returned stage fails with them. JSON is
 * parsed here and not by the application's converters, which differ in what they accept.
 * A superclass and no advice: Spring asks the handlers of a controller before any advice
 * of the application. Names no exception that only one of the two stacks has. Handlers
 * are protected, so that a proxy of a controller in another package overrides them:
 * called on the proxy itself they would have no fields.
 */
public abstract class AdminController {

	/** A larger body is not read to its end. */
	static final int MOST_BYTES = 256 * 1024;

	private static final MediaType ANY_JSON = new MediaType("application", "*+json");

	private final Audit audit;

	private final String actions;

	/**
	 * @param actions prefix of its actions in the audit trail
	 */
	protected AdminController(Audit audit, String actions) {
		this.audit = audit;
		this.actions = actions;
	}

	protected static Fields query(MultiValueMap<String, String> parameters) {
		Map<String, Object> values = new LinkedHashMap<>();
		AdminProblem problem = null;
		for (String name : parameters.keySet()) {
			String value = parameters.getFirst(name);
			values.put(name, (value != null) ? value : "");
			if (parameters.getOrDefault(name, List.of()).size() > 1) {
				problem = AdminProblem.invalid(PrintableText.of(name), "This parameter is there more than once",
						"Send it once.");
			}
		}
		return Fields.ofQuery(values, problem);
	}

	/**
	 * The fields of a JSON body.
	 * @param query has to be empty
	 */
	protected static Fields body(MultiValueMap<String, String> query, HttpEntity<byte[]> request) {
		byte[] body = request.getBody();
		boolean empty = body == null || body.length == 0;
		// Checked first: to servlets, a form is part of the query.
		if (!empty && !isJson(request.getHeaders().getFirst("Content-Type"))) {
			return Fields.ofBody(null, AdminProblem.notJson());
		}
		try {
			query(query).only();
			return Fields.ofBody((body != null && !empty) ? JsonReader.object(body) : null, null);
		}
		catch (AdminProblem ex) {
			return Fields.ofBody(null, ex);
		}
		catch (JsonReader.JsonException ex) {
			return Fields.ofBody(null, AdminProblem.invalid("body", "The body is not a JSON object: " + ex.getMessage(),
					"Correct the body at that place."));
		}
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

	@ExceptionHandler
	protected ResponseEntity<Map<String, Object>> problem(AdminProblem problem) {
		return problem.response();
	}

	@ExceptionHandler({ HttpMessageNotReadableException.class, ResponseStatusException.class,
			DataBufferLimitException.class })
	protected ResponseEntity<Map<String, Object>> unreadable(Exception failure, @Nullable Principal principal) {
		this.audit.unreadable(this.actions, principal);
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof DataBufferLimitException) {
				return AdminProblem.tooLarge(MOST_BYTES).response();
			}
		}
		return (isUnsupportedType(failure) ? AdminProblem.notJson()
				: AdminProblem.invalid("body", "The body ended before it was complete", "Send the call again."))
			.response();
	}

	private static boolean isUnsupportedType(Exception failure) {
		return failure instanceof ErrorResponse response
				&& response.getStatusCode().value() == HttpStatus.UNSUPPORTED_MEDIA_TYPE.value();
	}

}
