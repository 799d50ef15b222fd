package dev.ratelimit.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.Code;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.background.Futures;

/**
 * Errors of gRPC calls. They name fields and settings, never a caller's value.
 */
final class Statuses {

	private Statuses() {
	}

	/**
	 * A field of the message is invalid.
	 */
	static StatusException invalid(String field, String problem) {
		BadRequest details = BadRequest.newBuilder()
			.addFieldViolations(BadRequest.FieldViolation.newBuilder().setField(field).setDescription(problem))
			.build();
		return error(Code.INVALID_ARGUMENT, field + ": " + problem, details);
	}

	static StatusException notFound(String message) {
		return error(Code.NOT_FOUND, message, null);
	}

	static StatusException unauthenticated(String message) {
		return error(Code.UNAUTHENTICATED, message, null);
	}

	static StatusException permissionDenied(String message) {
		return error(Code.PERMISSION_DENIED, message, null);
	}

	/**
	 * The limiter cannot decide, and the policy fails closed.
	 */
	static StatusException unavailable(long retryAfterSeconds) {
		return error(Code.UNAVAILABLE,
				"Limits cannot be checked at the moment; this says nothing about how much was used",
				retryInfo(retryAfterSeconds));
	}

	/**
	 * No thread takes the call.
	 */
	static StatusException busy() {
		return error(Code.UNAVAILABLE, "The service has no thread for the call", null);
	}

	static RetryInfo retryInfo(long seconds) {
		return RetryInfo.newBuilder().setRetryDelay(Duration.newBuilder().setSeconds(seconds)).build();
	}

	/** The error to send for a failure. Its message is not sent: it may hold values. */
	static Throwable of(Throwable failure) {
		Throwable cause = Futures.cause(failure);
		return (cause instanceof StatusException) ? cause
				: error(Code.INTERNAL, "The service failed with " + cause.getClass().getName(), null);
	}

	static StatusException error(Code code, String message, @Nullable Message details) {
		Status.Builder status = Status.newBuilder().setCode(code.getNumber()).setMessage(message);
		if (details != null) {
			status.addDetails(Any.pack(details));
		}
		return StatusProto.toStatusException(status.build());
	}

}
