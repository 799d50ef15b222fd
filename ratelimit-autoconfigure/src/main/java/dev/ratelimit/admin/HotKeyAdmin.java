package dev.ratelimit.admin;

import java.security.Principal;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotCounter;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotMark;
import dev.ratelimit.hot.HotStore;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.split.HotSplits;

/**
 * Shows the counters with the most checks or the most refusals, and marks counters as
 * hot. Counters are shown by their keys, which reveal no value of a caller.
 */
public final class HotKeyAdmin {

	private static final String EXAMPLE = "Send something like {\"policy\": \"orders\", \"limit\": \"per-tenant\", "
			+ "\"tenant\": \"acme\", \"for\": \"1h\", \"reason\": \"…\"}.";

	private final HotCounters list;

	private final TopRefusals refusals;

	private final HotSplits splits;

	private final Supplier<PolicySet> policies;

	private final BiFunction<Request, String, List<Counter>> counters;

	private final AdminAccess access;

	private final Clock clock;

	/**
	 * @param counters the counters that a limit has for a request; the first one counts
	 * from now on
	 */
	HotKeyAdmin(HotCounters list, TopRefusals refusals, HotSplits splits, Supplier<PolicySet> policies,
			BiFunction<Request, String, List<Counter>> counters, AdminAccess access, Clock clock) {
		this.list = list;
		this.refusals = refusals;
		this.splits = splits;
		this.policies = policies;
		this.counters = counters;
		this.access = access;
		this.clock = clock;
	}

	/**
	 * The first counters of the fleet, {@code by} traffic or refusals, as this instance
	 * last saw them.
	 */
	public List<Map<String, Object>> show(Fields query, @Nullable Principal principal) {
		this.access.read("hotkeys", principal, query, "by");
		return switch (query.choice("by", Order.class, Order.TRAFFIC)) {
			case TRAFFIC -> this.list.top().stream().map(this::describe).toList();
			case REFUSALS -> this.refusals.top()
				.stream()
				.<Map<String, Object>>map((refused) -> describe(refused.name()).with("refusals", refused.refusals()))
				.toList();
		};
	}

	/**
	 * Marks the counters that a policy, a limit and a value for each dimension name.
	 */
	public CompletionStage<Map<String, Object>> mark(Fields body, @Nullable Principal principal) {
		return this.access.attempt("hotkey-mark", "", body, principal, "", () -> {
			Wish wish = wish(body);
			requireSplit(wish.policy(), wish.counters().get(0).spec().limit(), wish.split());
			HotMark mark = new HotMark(wish.name(), wish.left(), AdminAccess.actor(principal), body.reason(),
					wish.split());
			HotCounter before = find(wish.name().key());
			HotCounter after = new HotCounter(wish.name(), (before != null) ? before.perSecond() : 0, true, mark);
			return mark(mark, wish.counters()).handle((put, failure) -> {
				if (failure != null) {
					throw unavailable();
				}
				if (!put) {
					throw AdminProblem
						.unavailable("There are already " + HotStore.MAX_MARKS + " marks, which is the maximum");
				}
				return new AdminAccess.Result(text(wish.name(), before), text(wish.name(), after), describe(after));
			});
		});
	}

	private CompletionStage<Boolean> mark(HotMark mark, List<Counter> counters) {
		CompletionStage<Boolean> marked = CompletableFuture.completedStage(true);
		for (Counter counter : counters) {
			HotMark own = new HotMark(CounterName.of(counter), mark.left(), mark.actor(), mark.reason(), mark.split());
			marked = marked.thenCompose((before) -> this.splits.mark(own, counter).thenApply((put) -> before && put));
		}
		return marked;
	}

	/**
	 * Removes a mark.
	 * @param selectors as for marking, or only the key of the counter
	 */
	public CompletionStage<Map<String, Object>> unmark(Fields selectors, @Nullable Principal principal) {
		return this.access.attempt("hotkey-unmark", "", selectors, principal, "", () -> {
			selectors.requireReadable(EXAMPLE);
			String key = (selectors.value("key") instanceof String text) ? text : null;
			List<Counter> counters = (key != null) ? List.of() : wish(selectors).counters();
			CounterName name = (key != null) ? known(key).name() : CounterName.of(counters.get(0));
			HotCounter before = find(name.key());
			HotCounter after = new HotCounter(name, (before != null) ? before.perSecond() : 0, false, null);
			CompletionStage<Void> unmarked = (key != null) ? this.splits.unmark(key, this.list.find(key))
					: unmark(counters);
			return unmarked.handle((removed, failure) -> {
				if (failure != null) {
					throw unavailable();
				}
				Map<String, Object> answer = describe(after);
				// Whether the counter is hot without its mark is not known yet.
				answer.remove("hot");
				return new AdminAccess.Result(text(name, before), text(name, after), answer);
			});
		});
	}

	private CompletionStage<Void> unmark(List<Counter> counters) {
		CompletionStage<Void> unmarked = CompletableFuture.completedStage(null);
		for (Counter counter : counters) {
			unmarked = unmarked.thenCompose((nothing) -> this.splits.unmark(counter.key(), counter));
		}
		return unmarked;
	}

	private HotCounter known(String key) {
		HotCounter known = find(key);
		if (known == null) {
			throw AdminProblem.invalid("key", "There is no such key in the list",
					"Use a key as GET shows it, or policy, limit and dimensions.");
		}
		return known;
	}

	private @Nullable HotCounter find(String key) {
		return this.list.top().stream().filter((counter) -> counter.name().key().equals(key)).findFirst().orElse(null);
	}

	private Wish wish(Fields fields) {
		fields.requireReadable(EXAMPLE);
		if (fields.names().isEmpty()) {
			throw AdminProblem.unreadable(EXAMPLE);
		}
		Policy policy = CallerFields.policy(fields, this.policies.get());
		Limit limit = CallerFields.limit(fields, policy);
		if (limit == null) {
			throw AdminProblem.invalid("limit", "The limit is missing", CallerFields.limits(policy));
		}
		Request request = Request.of(policy.id());
		List<String> names = new ArrayList<>(List.of("policy", "limit", "for", "split", "reason"));
		for (Dimension dimension : limit.by()) {
			request = request.with(dimension, CallerFields.counted(dimension, fields.value(dimension.name())));
			names.add(dimension.name());
		}
		fields.only(EXAMPLE, names);
		Long split = fields.number("split", 2, Limit.MAX_SPLIT);
		Duration left = fields.duration("for", ForcedMode.USUAL, Duration.ofSeconds(1), ForcedMode.LONGEST);
		// Prefers the counters that live requests use: their tier may have other quotas.
		List<Counter> counters = this.counters.apply(request, limit.name()).stream().map((counter) -> {
			Counter known = this.list.find(counter.key());
			return (known != null) ? known : counter;
		}).toList();
		return new Wish(policy, counters, left, (split != null) ? split.intValue() : 1);
	}

	private static void requireSplit(Policy policy, Limit limit, int split) {
		if (split > 1 && split <= limit.split()) {
			throw AdminProblem.invalid("split",
					"The configuration already splits the limit into " + limit.split() + " parts",
					"Use more parts than that, or leave it out.");
		}
		long least = limit.quotas()
			.stream()
			.mapToLong((quota) -> Math.min(quota.permits(), quota.burst()))
			.min()
			.orElseThrow();
		if (!limit.fits(split)) {
			throw AdminProblem.invalid("split",
					"The smallest quota of the limit has " + least + " permits, fewer than one for each part",
					"Use at most " + Math.min(least, Limit.MAX_SPLIT) + " parts, better a quarter of that.");
		}
		long cost = policy.chargedCost();
		long part = limit.withSplit(split).largestCost();
		// A cost that does not even fit under the whole limit is no reason against parts.
		if (part < cost && cost <= limit.largestCost()) {
			int most = split - 1;
			while (limit.withSplit(most).largestCost() < cost) {
				most--;
			}
			throw AdminProblem.invalid("split",
					"The policy charges up to " + cost + " permits for a request, but a part would have only " + part,
					((most > 1) ? "Use at most " + most + " parts" : "Leave 'split' out")
							+ ", or lower the policy's cost.estimate or costs.");
		}
	}

	private static AdminProblem unavailable() {
		return AdminProblem.unavailable("Redis could not be written; if it was only slow, the write may still arrive");
	}

	private String text(CounterName name, @Nullable HotCounter counter) {
		HotMark mark = (counter != null) ? counter.mark() : null;
		String parts = (mark != null && mark.split() > 1) ? " in " + mark.split() + " parts" : "";
		return name.policy() + "/" + name.limit() + " " + name.key()
				+ ((mark != null) ? " marked until " + until(mark) + parts : " not marked");
	}

	private static JsonObject describe(CounterName name) {
		return new JsonObject().with("policy", name.policy()).with("limit", name.limit()).with("key", name.key());
	}

	private Map<String, Object> describe(HotCounter counter) {
		HotMark mark = counter.mark();
		JsonObject described = describe(counter.name()).with("rate", counter.perSecond())
			.with("hot", counter.hot())
			.with("marked", mark != null);
		return (mark == null) ? described
				: described.with("until", until(mark))
					.with("actor", mark.actor())
					.with("reason", mark.reason())
					.with("split", (mark.split() > 1) ? mark.split() : null);
	}

	private String until(HotMark mark) {
		return this.clock.instant().plus(mark.left()).truncatedTo(ChronoUnit.SECONDS).toString();
	}

	private enum Order {

		TRAFFIC, REFUSALS

	}

	/**
	 * Counters that a call names.
	 *
	 * @param policy the policy in force
	 * @param left how long they stay marked
	 * @param split number of parts, 1 for as many as the limit has
	 */
	private record Wish(Policy policy, List<Counter> counters, Duration left, int split) {

		CounterName name() {
			return CounterName.of(this.counters.get(0));
		}

	}

}
