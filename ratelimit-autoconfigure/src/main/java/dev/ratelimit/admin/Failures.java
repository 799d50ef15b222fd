package dev.ratelimit.admin;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.background.Futures;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.NotFoundException;
import dev.ratelimit.control.PolicyInUseException;
import dev.ratelimit.control.StoreUnavailableException;
import dev.ratelimit.fleet.SwitchNotWrittenException;
import dev.ratelimit.store.ConfirmationException;
import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.StoreIncidentException;

/**
 * Translates the failures of operations into problems that a caller understands.
 */
final class Failures {

	private Failures() {
	}

	/**
	 * A stage that fails with an {@link AdminProblem} where there is one for its failure.
	 */
	static <T> CompletionStage<T> translated(CompletionStage<T> stage) {
		return stage.exceptionallyCompose((failure) -> CompletableFuture.failedStage(of(failure)));
	}

	/**
	 * The problem of a failed stage; an {@link IllegalStateException} where there is
	 * none.
	 */
	static RuntimeException of(Throwable failure) {
		Throwable cause = Futures.cause(failure);
		String message = String.valueOf(cause.getMessage());
		if (cause instanceof AdminProblem problem) {
			return problem;
		}
		if (cause instanceof InvalidChangeException invalid) {
			return AdminProblem.invalid(invalid.field(), invalid.problem(), invalid.fix());
		}
		if (cause instanceof NotFoundException) {
			return AdminProblem.missing("", message, "GET shows what exists.");
		}
		if (cause instanceof ConflictException conflict && conflict.newest() == 0) {
			return AdminProblem.conflict("This record has no version yet", 0L, "Leave out 'expect', or send 0.");
		}
		if (cause instanceof ConflictException conflict) {
			return AdminProblem.conflict("Another change came first: " + message, conflict.newest(),
					"Read version " + conflict.newest() + " and send the change again with it as 'expect'.");
		}
		if (cause instanceof ConfirmationException question) {
			return AdminProblem.conflict(message, null,
					"To go on, send the call again with \"confirm\": " + question.number() + ".");
		}
		if (cause instanceof PolicyInUseException) {
			return AdminProblem.conflict(message, null, "Remove what names it first, or add ?force=true.");
		}
		if (cause instanceof StoreUnavailableException || cause instanceof SwitchNotWrittenException) {
			return AdminProblem.unavailable(message);
		}
		if (cause instanceof StoreIncidentException) {
			return AdminProblem.conflict(message, null, "GET shows the state of the store under 'incident'.");
		}
		return new IllegalStateException(cause);
	}

}
