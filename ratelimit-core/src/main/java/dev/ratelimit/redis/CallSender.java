package dev.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Sends script calls to a node.
 */
interface CallSender {

	CompletionStage<List<ScriptCall.Outcome>> send(ScriptCall call);

	/**
	 * Sends calls together. A call that cannot be sent does not affect the others.
	 * @return the answer to each call, failed for a call that was not sent
	 */
	default List<CompletionStage<List<ScriptCall.Outcome>>> send(List<ScriptCall> calls) {
		List<CompletionStage<List<ScriptCall.Outcome>>> answers = new ArrayList<>(calls.size());
		for (ScriptCall call : calls) {
			answers.add(attempt(call));
		}
		return answers;
	}

	/** Sends a call, and returns a failed stage instead of throwing. */
	default CompletionStage<List<ScriptCall.Outcome>> attempt(ScriptCall call) {
		try {
			return Objects.requireNonNull(send(call), "a call has no answer");
		}
		catch (Throwable ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

}
