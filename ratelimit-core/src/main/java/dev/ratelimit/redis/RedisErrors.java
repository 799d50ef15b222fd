package dev.ratelimit.redis;

import java.io.IOException;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.cluster.PartitionSelectorException;

import dev.ratelimit.Decision;
import dev.ratelimit.background.Futures;
import dev.ratelimit.counter.UnansweredException;

/**
 * Finds the reason of a failure in an error of Redis or its client.
 */
final class RedisErrors {

	/** Redis before 7.0 wraps the error of a command inside a script. */
	private static final String INSIDE_A_SCRIPT = ": -";

	static final UnansweredException NOT_CONNECTED = new UnansweredException(Decision.Reason.UNAVAILABLE,
			"not connected to Redis");

	private RedisErrors() {
	}

	static UnansweredException translate(Throwable failure) {
		Throwable cause = Futures.cause(failure);
		if (cause instanceof UnansweredException unanswered) {
			return unanswered;
		}
		return new UnansweredException(reason(cause), String.valueOf(cause.getMessage()));
	}

	static boolean unknownScript(Throwable failure) {
		return Futures.cause(failure) instanceof RedisNoScriptException;
	}

	/**
	 * Whether the node redirected the call to another node and did nothing.
	 */
	static boolean redirected(Throwable failure) {
		String message = (failure instanceof RedisCommandExecutionException) ? failure.getMessage() : null;
		return message != null && (message.startsWith("MOVED ") || message.startsWith("ASK "));
	}

	private static Decision.Reason reason(Throwable cause) {
		if (cause instanceof RedisCommandTimeoutException) {
			return Decision.Reason.TIMEOUT;
		}
		if (cause instanceof RedisLoadingException) {
			return Decision.Reason.LOADING;
		}
		if (cause instanceof RedisReadOnlyException) {
			return Decision.Reason.READ_ONLY;
		}
		if (cause instanceof PartitionSelectorException) {
			return Decision.Reason.CLUSTER_DOWN;
		}
		if (cause instanceof RedisCommandExecutionException) {
			return reason(String.valueOf(cause.getMessage()));
		}
		if (cause instanceof RedisException) {
			boolean full = String.valueOf(cause.getMessage()).startsWith("Request queue size exceeded");
			return full ? Decision.Reason.SATURATED : Decision.Reason.UNAVAILABLE;
		}
		// A connection that breaks fails its commands with an I/O error.
		return (cause instanceof IOException) ? Decision.Reason.UNAVAILABLE : Decision.Reason.INTERNAL;
	}

	static Decision.Reason reason(String message) {
		int inside = message.startsWith("ERR Error running script") ? message.lastIndexOf(INSIDE_A_SCRIPT) : -1;
		String error = (inside >= 0) ? message.substring(inside + INSIDE_A_SCRIPT.length()) : message;
		int space = error.indexOf(' ');
		return switch ((space > 0) ? error.substring(0, space) : error) {
			case "OOM" -> Decision.Reason.OUT_OF_MEMORY;
			case "READONLY" -> Decision.Reason.READ_ONLY;
			case "LOADING" -> Decision.Reason.LOADING;
			case "CLUSTERDOWN" -> Decision.Reason.CLUSTER_DOWN;
			case "TRYAGAIN", "MOVED", "ASK", "CROSSSLOT" -> Decision.Reason.RESHARDING;
			case "NOPERM", "NOAUTH", "WRONGPASS" -> Decision.Reason.FORBIDDEN;
			case "WRONGTYPE" -> Decision.Reason.CORRUPT;
			default -> Decision.Reason.UNAVAILABLE;
		};
	}

}
