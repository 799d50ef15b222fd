package dev.ratelimit.grpc;

import java.util.Map;

import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.Code;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;

import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.background.Futures;

/**
 * Errors of the operations of administrators: those of the actuator endpoint, as gRPC
 * says them.
 */
final class AdminStatuses {

	private AdminStatuses() {
	}

	static Throwable of(Throwable failure) {
		if (!(Futures.cause(failure) instanceof AdminProblem problem)) {
			return Statuses.of(failure);
		}
		ResponseEntity<Map<String, Object>> response = problem.response();
		Map<String, Object> members = (response.getBody() != null) ? response.getBody() : Map.of();
		String message = problem.getMessage() + (members.containsKey("fix") ? ". " + members.get("fix") : "");
		Code code = code(response.getStatusCode().value());
		return Statuses.error(code, message, (code == Code.INVALID_ARGUMENT) ? field(members, message) : null);
	}

	private static @Nullable Message field(Map<String, Object> members, String message) {
		return !(members.get("field") instanceof String field) ? null
				: BadRequest.newBuilder()
					.addFieldViolations(BadRequest.FieldViolation.newBuilder().setField(field).setDescription(message))
					.build();
	}

	private static Code code(int status) {
		return switch (status) {
			case 400, 413, 415 -> Code.INVALID_ARGUMENT;
			case 401 -> Code.UNAUTHENTICATED;
			case 403 -> Code.PERMISSION_DENIED;
			case 404 -> Code.NOT_FOUND;
			case 409 -> Code.ABORTED;
			case 429 -> Code.RESOURCE_EXHAUSTED;
			case 503 -> Code.UNAVAILABLE;
			default -> Code.INTERNAL;
		};
	}

}
