package dev.ratelimit.admin;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.PrintableText;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;

/**
 * Lets callers read and change what they may, and records every attempt to change
 * something and every refused read in the audit trail.
 */
public final class AdminAccess {

	private final AdminCheck check;

	private final Audit audit;

	public AdminAccess(AdminCheck check, Audit audit) {
		this.check = check;
		this.audit = audit;
	}

	/**
	 * The caller's name in the trail.
	 */
	public static String actor(@Nullable Principal principal) {
		String name = (principal != null) ? principal.getName() : null;
		return (name != null) ? PrintableText.of(name) : "anonymous";
	}

	public static Author author(Fields fields, @Nullable Principal principal) {
		return new Author(actor(principal), fields.reason());
	}

	/**
	 * Checks that changes can be made at run time.
	 * @param control {@code null} if there is no store
	 */
	public static ControlPlane requireStore(@Nullable ControlPlane control) {
		if (control == null) {
			throw AdminProblem.unavailable("There is no store for changes at run time; set "
					+ "ratelimit.policies-store.type to redis or r2dbc");
		}
		return control;
	}

	/**
	 * Checks that the caller may read, and only then the query: a stranger learns nothing
	 * about it.
	 * @param what is read, without any value that names a caller
	 * @param names the parameters that are allowed
	 * @return the query
	 */
	Fields read(String what, @Nullable Principal principal, Fields query, String... names) {
		requireRead(what, principal);
		return query.only(names);
	}

	void requireRead(String what, @Nullable Principal principal) {
		if (!this.check.mayRead(principal)) {
			if (principal != null) {
				// Strangers must not be able to fill the trail.
				this.audit
					.record(new Audit.Entry(Audit.READ, Audit.Outcome.REFUSED, actor(principal), what, "", "", ""));
			}
			throw AdminProblem
				.forbidden("Reads need the authority " + AdminCheck.VIEWER + " or " + AdminCheck.AUTHORITY);
		}
	}

	/**
	 * Makes a change for a caller that may.
	 * @param action what is tried, such as {@code switch-on}
	 * @param target what the change is about; names callers as {@link RecordNames} does;
	 * empty if the action says it
	 * @param fields of the call, with the reason
	 * @param before what is in force, and stays so if the change fails
	 * @param change makes the change; may throw an {@link AdminProblem}
	 */
	public CompletionStage<Map<String, Object>> attempt(String action, String target, Fields fields,
			@Nullable Principal principal, String before, Supplier<CompletionStage<Result>> change) {
		return attempt(action, target, fields, principal, before, change, () -> before);
	}

	/**
	 * Makes a change that may fail half-way.
	 * @param left what is in force after a failure
	 */
	CompletionStage<Map<String, Object>> attempt(String action, String target, Fields fields,
			@Nullable Principal principal, String before, Supplier<CompletionStage<Result>> change,
			Supplier<String> left) {
		Audit.Entry failed = new Audit.Entry(action, Audit.Outcome.FAILED, actor(principal), target, before, before,
				fields.reason());
		CompletionStage<Result> changed;
		try {
			if (!this.check.mayWrite(principal)) {
				throw AdminProblem.forbidden("Changes need the authority " + AdminCheck.AUTHORITY);
			}
			changed = change.get();
		}
		catch (AdminProblem ex) {
			this.audit.record(failed.with(outcome(ex), before));
			return CompletableFuture.failedStage(ex);
		}
		// Not on the connection's thread: a listener of audit events may well block.
		return changed.handleAsync((result, failure) -> {
			if (failure != null) {
				RuntimeException problem = Failures.of(failure);
				this.audit.record(failed.with(outcome(problem), left.get()));
				throw problem;
			}
			this.audit.record(failed.done(result.before(), result.after()));
			return result.answer();
		});
	}

	private static Audit.Outcome outcome(RuntimeException failure) {
		if (!(failure instanceof AdminProblem problem) || !problem.isCallersFault()) {
			return Audit.Outcome.FAILED;
		}
		return problem.isForbidden() ? Audit.Outcome.REFUSED : Audit.Outcome.INVALID;
	}

	/**
	 * A change that was made.
	 *
	 * @param before what was in force before
	 * @param after what is in force now
	 * @param answer for the caller
	 */
	public record Result(String before, String after, Map<String, Object> answer) {
	}

}
