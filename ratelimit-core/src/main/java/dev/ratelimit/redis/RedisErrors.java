package dev.ratelimit.redis;

import java.io.IOException;
import java.util.concurrent.CompletionException;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.cluster.PartitionSelectorException;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.UnansweredException;

/**
 * What went wrong, told from what Redis or its client said.
 */
final class Failures {

	/** Redis before 7.0 wraps what a command of a script answered. */
	private static final String INSIDE_A_SCRIPT = ": -";

	static final UnansweredException NOT_CONNECTED = new UnansweredException(Decision.Reason.UNAVAILABLE,
			"not connected to Redis");

	private Failures() {
	}

	static UnansweredException translate(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		if (cause instanceof UnansweredException unanswered) {
			return unanswered;
		}
		return new UnansweredException(reason(cause), String.valueOf(cause.getMessage()));
	}

	static boolean unknownScript(Throwable failure) {
		return failure instanceof RedisNoScriptException || failure.getCause() instanceof RedisNoScriptException;
	}

	/**
	 * Whether another node was named that keeps the counter, and nothing was done.
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
		// A connection that breaks while something is under way fails it as it is.
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
