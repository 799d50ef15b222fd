package dev.ratelimit.admin;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ForcedMode;

/**
 * Makes changes for those who may, and leaves a trail of every attempt.
 */
public final class AdminChanges {

	private final AdminCheck check;

	private final Audit audit;

	public AdminChanges(AdminCheck check, Audit audit) {
		this.check = check;
		this.audit = audit;
	}

	/**
	 * What somebody goes by in the trail.
	 */
	public static String actor(@Nullable Principal principal) {
		String name = (principal != null) ? principal.getName() : null;
		return (name != null) ? ForcedMode.printable(name) : "anonymous";
	}

	/**
	 * Tries a change. Fails with an {@link AdminProblem}.
	 * @param action what is tried, such as {@code switch-on}
	 * @param reason why, in the actor's words
	 * @param principal who tries
	 * @param before what is in force, and stays so if it does not succeed
	 * @param change makes it, and throws or fails with an {@link AdminProblem} if it
	 * cannot
	 */
	public CompletionStage<Map<String, Object>> attempt(String action, String reason, @Nullable Principal principal,
			String before, Supplier<CompletionStage<Result>> change) {
		return attempt(action, "", reason, principal, before, change);
	}

	/**
	 * Tries a change of something that the action alone does not name. Fails with an
	 * {@link AdminProblem}.
	 * @param target what it is about, without anything that names a caller
	 */
	public CompletionStage<Map<String, Object>> attempt(String action, String target, String reason,
			@Nullable Principal principal, String before, Supplier<CompletionStage<Result>> change) {
		CompletionStage<Result> changed;
		try {
			if (!this.check.mayWrite(principal)) {
				throw AdminProblem.forbidden();
			}
			changed = change.get();
		}
		catch (AdminProblem ex) {
			this.audit.record(new Audit.Entry(action, outcome(ex), actor(principal), target, before, before, reason));
			return CompletableFuture.failedStage(ex);
		}
		// Not on the connection's thread: a listener of audit events may well block.
		return changed.handleAsync((result, failure) -> {
			if (failure != null) {
				RuntimeException problem = problem(failure);
				this.audit.record(
						new Audit.Entry(action, outcome(problem), actor(principal), target, before, before, reason));
				throw problem;
			}
			this.audit.record(new Audit.Entry(action, Audit.Outcome.DONE, actor(principal), target, result.before(),
					result.after(), reason));
			return result.answer();
		});
	}

	private static Audit.Outcome outcome(RuntimeException failure) {
		if (!(failure instanceof AdminProblem problem) || !problem.isCallersFault()) {
			return Audit.Outcome.FAILED;
		}
		return problem.isForbidden() ? Audit.Outcome.REFUSED : Audit.Outcome.INVALID;
	}

	private static RuntimeException problem(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		return (cause instanceof AdminProblem problem) ? problem : new IllegalStateException(failure);
	}

	/**
	 * A change that was made.
	 *
	 * @param before what was in force before
	 * @param after what is in force now
	 * @param answer what the caller is told
	 */
	public record Result(String before, String after, Map<String, Object> answer) {
	}

}
