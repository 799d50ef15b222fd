package dev.ratelimit.admin;

import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.refusal.Refusal;
import dev.ratelimit.refusal.RefusalHistory;
import dev.ratelimit.refusal.RefusalQuery;

/**
 * Shows why callers were refused, as in {@code tenant=acme&at=2026-11-16T03:47:00Z}. The
 * operator has to know the caller: the answer shows callers only by their pseudonyms.
 */
public final class RefusalAdmin {

	private static final Pattern PLACE = Pattern.compile("\\d{1,15}-\\d{1,9}");

	private final Supplier<PolicySet> policies;

	private final @Nullable RefusalHistory history;

	private final @Nullable CallerNames names;

	private final LongSupplier missing;

	private final AdminAccess access;

	/**
	 * @param names the pseudonyms of callers in the history
	 * @param missing number of refusals that this instance could not keep
	 */
	RefusalAdmin(Supplier<PolicySet> policies, @Nullable RefusalHistory history, @Nullable CallerNames names,
			LongSupplier missing, AdminAccess access) {
		this.policies = policies;
		this.history = history;
		this.names = names;
		this.missing = missing;
		this.access = access;
	}

	public CompletionStage<Map<String, Object>> show(Fields query, @Nullable Principal principal) {
		this.access.requireRead("refusals", principal);
		RefusalHistory history = this.history;
		if (history == null || this.names == null) {
			throw AdminProblem.unavailable("This application keeps no history of refusals");
		}
		return history.find(wanted(query, this.names)).handle((page, failure) -> {
			if (failure instanceof RejectedExecutionException) {
				throw AdminProblem.unavailable("Too many readers use the history of refusals at the moment; try again");
			}
			if (failure != null) {
				throw AdminProblem.unavailable("The history of refusals does not answer");
			}
			return new JsonObject().with("source", history.keeper())
				.with("missing", this.missing.getAsLong())
				.with("entries", page.refusals().stream().map(Refusal::describe).toList())
				.with("before", page.next());
		});
	}

	private RefusalQuery wanted(Fields query, CallerNames callers) {
		// Includes the dimensions of all policies: the caller's policy may be deleted.
		Set<String> dimensions = CallerFields.dimensions(this.policies.get().policies());
		List<String> names = new ArrayList<>(List.of("policy", "at", "within", "before", "limit"));
		names.addAll(dimensions);
		query.only("", names);
		Map<Dimension, String> caller = CallerFields.values(query, dimensions);
		String policy = query.parsed("policy", (id) -> matching(id, Policy.isId(id)), "This is not the id of a policy",
				"Use 1 to 63 lower-case letters, digits, dots, dashes and underscores, or leave it out.");
		Instant at = query.parsed("at", Instant::parse, "This is not a time",
				"Use a time such as 2026-11-16T03:47:00Z.");
		Duration within = query.duration("within", Duration.ofMinutes(1), Duration.ZERO, Duration.ofDays(365));
		String before = query.parsed("before", (text) -> matching(text, PLACE.matcher(text).matches()),
				"This is not a place in the history", "Use the value of 'before' in the last answer.");
		return new RefusalQuery(policy, callers.known(caller), (at != null) ? at.minus(within) : null,
				(at != null) ? at.plus(within) : null, before, query.pageSize());
	}

	private static String matching(String text, boolean matches) {
		if (!matches) {
			throw new IllegalArgumentException();
		}
		return text;
	}

}
