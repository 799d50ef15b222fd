package dev.ratelimit.admin;

import java.security.Principal;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.caller.Pseudonyms;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.limiter.CallerUsage;
import dev.ratelimit.penalty.Ban;
import dev.ratelimit.penalty.CallerKey;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.policy.PolicySet;

/**
 * Shows bans by pseudonyms, and lifts them: by a pseudonym that is shown, or by all
 * dimensions of a limit. The audit trail shows counters by their keys, which do not
 * reveal the caller.
 */
public final class BanAdmin {

	private static final List<String> FIELDS = List.of("policy", "limit", "reason");

	private static final Dimension PSEUDONYM = new Dimension("pseudonym");

	/** Longer than any epoch: the caller may have been banned in the previous one. */
	private static final long ALWAYS_MICROS = Duration.ofDays(36_500).toMillis() * 1_000;

	private final Penalties penalties;

	private final Function<CallerKey, CompletionStage<Void>> lift;

	private final Supplier<PolicySet> policies;

	private final Supplier<CallerUsage> usage;

	private final Pseudonyms pseudonyms;

	private final AdminAccess access;

	private final Clock clock;

	/**
	 * Creates it.
	 * @param lift lifts a ban for the whole fleet
	 */
	BanAdmin(Penalties penalties, Function<CallerKey, CompletionStage<Void>> lift, Supplier<PolicySet> policies,
			Supplier<CallerUsage> usage, Pseudonyms pseudonyms, AdminAccess access, Clock clock) {
		this.penalties = penalties;
		this.lift = lift;
		this.policies = policies;
		this.usage = usage;
		this.pseudonyms = pseudonyms;
		this.access = access;
		this.clock = clock;
	}

	/**
	 * The bans that this instance knows, the longest first.
	 */
	public List<Map<String, Object>> show(Fields query, @Nullable Principal principal) {
		this.access.read("bans", principal, query, "policy");
		Object policy = query.value("policy");
		return this.penalties.bans()
			.stream()
			.filter((ban) -> policy == null || ban.caller().policy().equals(policy))
			.sorted(Comparator.comparing(Ban::left).reversed())
			.<Map<String, Object>>map(this::describe)
			.toList();
	}

	/**
	 * Lifts bans, and ends cool-downs of callers that are named by their dimensions.
	 */
	public CompletionStage<Map<String, Object>> lift(Fields query, @Nullable Principal principal) {
		return this.access.attempt("ban-lift", CallerFields.target(query, FIELDS), query, principal, "", () -> {
			query.requireReadable("");
			Policy policy = CallerFields.policy(query, this.policies.get());
			Set<CallerKey> callers = query.has(PSEUDONYM.name()) ? shown(query, policy) : named(query, policy);
			String before = callers.stream().map(this::text).collect(Collectors.joining(", "));
			CompletableFuture<?>[] lifted = callers.stream()
				.map((caller) -> this.lift.apply(caller).toCompletableFuture())
				.toArray(CompletableFuture<?>[]::new);
			return CompletableFuture.allOf(lifted).handle((done, failure) -> {
				if (failure != null) {
					throw AdminProblem
						.unavailable("Redis did not answer, and the ban may not be lifted; try again when it answers");
				}
				return new AdminAccess.Result(before, "lifted", new JsonObject().with("policy", policy.id())
					.with("lifted", callers.stream().map(CallerKey::limit).distinct().toList()));
			});
		});
	}

	private Set<CallerKey> shown(Fields query, Policy policy) {
		query.only("", List.of("policy", PSEUDONYM.name(), "reason"));
		String wanted = query.text(PSEUDONYM.name());
		return this.penalties.bans()
			.stream()
			.map(Ban::caller)
			.filter((caller) -> caller.policy().equals(policy.id())
					&& this.pseudonyms.known(PSEUDONYM, caller.key()).contains(wanted))
			.findFirst()
			.map(this.penalties::sameCaller)
			.orElseThrow(() -> AdminProblem.missing(PSEUDONYM.name(), "There is no such ban",
					"Use a pseudonym as GET shows it, or the dimensions of the limit."));
	}

	/** The counters of the caller, in this epoch and in the previous one. */
	private Set<CallerKey> named(Fields query, Policy policy) {
		Limit limit = CallerFields.limit(query, policy);
		Set<String> dimensions = CallerFields.dimensions(List.of(policy));
		List<String> names = new ArrayList<>(FIELDS);
		names.addAll(dimensions);
		query.only("", names);
		Request request = CallerFields.request(policy, CallerFields.values(query, dimensions));
		CallerUsage.Found found = this.usage.get()
			.find(request, (one) -> one.penalises() && (limit == null || limit.name().equals(one.name())));
		Set<CallerKey> callers = new LinkedHashSet<>();
		for (Counter counter : (found != null) ? found.counters() : List.<Counter>of()) {
			callers.add(CallerKey.of(counter));
			Counter before = counter.before(ALWAYS_MICROS);
			if (before != null) {
				callers.add(CallerKey.of(before));
			}
		}
		if (callers.isEmpty()) {
			throw AdminProblem.invalid("limit", "These values name no caller that can be banned",
					"Add a value for each dimension of a limit by user, api-key or ip, or a pseudonym.");
		}
		return callers;
	}

	private JsonObject describe(Ban ban) {
		return new JsonObject().with("policy", ban.caller().policy())
			.with("limit", ban.caller().limit())
			.with("pseudonym", this.pseudonyms.of(PSEUDONYM, ban.caller().key()))
			.with("until", this.clock.instant().plus(ban.left()).truncatedTo(ChronoUnit.SECONDS).toString());
	}

	private String text(CallerKey caller) {
		return caller.policy() + "/" + caller.limit() + " " + caller.key();
	}

}
