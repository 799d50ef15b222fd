package dev.ratelimit.admin;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.InvalidChangeException;
import dev.ratelimit.control.NotFoundException;
import dev.ratelimit.control.PolicyInUseException;
import dev.ratelimit.control.StoreUnavailableException;
import dev.ratelimit.store.ConflictException;

/**
 * Says in HTTP's terms why the control plane did not do something.
 */
public final class ControlProblems {

	private ControlProblems() {
	}

	/**
	 * The control plane, unless there is no store to keep anything in.
	 */
	public static ControlPlane require(@Nullable ControlPlane control) {
		if (control == null) {
			throw AdminProblem.unavailable("There is no store for what is changed at run time; set "
					+ "ratelimit.policies-store.type to redis or r2dbc");
		}
		return control;
	}

	/**
	 * The same, but failing with an {@link AdminProblem}.
	 */
	public static <T> CompletionStage<T> translated(CompletionStage<T> stage) {
		return stage.exceptionallyCompose((failure) -> CompletableFuture.failedStage(of(failure)));
	}

	private static Throwable of(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		String message = String.valueOf(cause.getMessage());
		if (cause instanceof InvalidChangeException invalid) {
			return AdminProblem.invalid(invalid.field(), invalid.problem(), invalid.fix());
		}
		if (cause instanceof NotFoundException) {
			return AdminProblem.missing("", message, "Look at what there is with GET.");
		}
		if (cause instanceof ConflictException conflict && conflict.newest() == 0) {
			return AdminProblem.conflict("Nothing was written under this name yet, so there is no such version", 0L,
					"Leave out 'expect', or send 0.");
		}
		if (cause instanceof ConflictException conflict) {
			return AdminProblem.conflict("Somebody else was faster: " + message, conflict.newest(),
					"Look at version " + conflict.newest() + " and send the change again with it as 'expect'.");
		}
		if (cause instanceof PolicyInUseException) {
			return AdminProblem.conflict(message, null, "Remove what names it first, or add ?force=true.");
		}
		if (cause instanceof IllegalStateException) {
			return AdminProblem.conflict(message, null, "Look at 'incident' in the overview.");
		}
		return (cause instanceof StoreUnavailableException) ? AdminProblem.unavailable(message) : cause;
	}

}
