package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.refusal.CallerNames;
import dev.ratelimit.refusal.Refusal;
import dev.ratelimit.refusal.RefusalHistory;

/**
 * Tells why callers were refused. Whoever asks has to know the caller: in the answer,
 * callers only go by their pseudonyms.
 */
public final class RefusalAdmin {

	private final Supplier<PolicySet> policies;

	private final @Nullable RefusalHistory history;

	private final @Nullable CallerNames names;

	private final LongSupplier missing;

	/**
	 * Creates it.
	 * @param policies the snapshot in force
	 * @param history what was refused, {@code null} if nobody keeps it
	 * @param names what callers go by in it
	 * @param missing how many refusals this instance could not keep
	 */
	public RefusalAdmin(Supplier<PolicySet> policies, @Nullable RefusalHistory history, @Nullable CallerNames names,
			LongSupplier missing) {
		this.policies = policies;
		this.history = history;
		this.names = names;
		this.missing = missing;
	}

	/**
	 * A page of refusals. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> show(Map<String, String> parameters) {
		RefusalHistory history = this.history;
		CallerNames names = this.names;
		try {
			RefusalRequest wished = RefusalRequest.parse(parameters, this.policies.get());
			if (history == null || names == null) {
				throw AdminProblem.unavailable("This application keeps no history of refusals");
			}
			return history.find(wished.query(names)).handle((page, failure) -> {
				if (failure instanceof RejectedExecutionException) {
					throw new CompletionException(
							AdminProblem.unavailable("Others are looking at the history of refusals; ask again"));
				}
				if (failure != null) {
					throw new CompletionException(AdminProblem.unavailable("The history of refusals does not answer"));
				}
				return answer(history, page);
			});
		}
		catch (AdminProblem ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private Map<String, Object> answer(RefusalHistory history, RefusalHistory.Page page) {
		Map<String, Object> answer = new LinkedHashMap<>();
		answer.put("source", history.keeper());
		answer.put("missing", this.missing.getAsLong());
		answer.put("entries", page.refusals().stream().map(Refusal::describe).toList());
		if (page.next() != null) {
			answer.put("before", page.next());
		}
		return answer;
	}

}
