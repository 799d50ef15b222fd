package dev.ratelimit.actuate;

import java.security.Principal;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Limit;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminChanges;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterName;
import dev.ratelimit.counter.HotMark;
import dev.ratelimit.counter.HotStore;
import dev.ratelimit.counter.RefusedKey;
import dev.ratelimit.hot.HotCounter;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotSplits;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.policy.PolicySet;

/**
 * Shows which counters are asked for most and refuse most, and marks some as hot, for
 * those who may and leaving a trail. Counters go by their keys, in which no value of a
 * caller can be read.
 */
public final class HotKeyAdmin {

	static final String TRAFFIC = "traffic";

	static final String REFUSALS = "refusals";

	private final HotCounters list;

	private final TopRefusals refusals;

	private final HotSplits splits;

	private final Supplier<PolicySet> policies;

	private final BiFunction<Request, String, List<Counter>> counters;

	private final AdminChanges changes;

	private final Clock clock;

	/**
	 * Creates it.
	 * @param counters which counters a limit has for a request, the one that counts from
	 * now on first
	 */
	public HotKeyAdmin(HotCounters list, TopRefusals refusals, HotSplits splits, Supplier<PolicySet> policies,
			BiFunction<Request, String, List<Counter>> counters, AdminCheck check, Audit audit, Clock clock) {
		this.list = list;
		this.refusals = refusals;
		this.splits = splits;
		this.policies = policies;
		this.counters = counters;
		this.changes = new AdminChanges(check, audit);
		this.clock = clock;
	}

	/**
	 * The counters of the fleet that are first in something, as this instance saw them
	 * last.
	 * @param by {@code traffic} or {@code refusals}
	 * @throws AdminProblem if it is something else
	 */
	List<Map<String, Object>> show(String by) {
		return switch (by) {
			case TRAFFIC -> this.list.top().stream().map(this::describe).toList();
			case REFUSALS -> this.refusals.top().stream().map(HotKeyAdmin::describe).toList();
			default -> throw AdminProblem.invalid("by", "Counters are not ordered by that",
					"Use " + TRAFFIC + " or " + REFUSALS + ".");
		};
	}

	/**
	 * Marks a counter. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> mark(AdminBody body, @Nullable Principal principal) {
		String reason = body.reason();
		return this.changes.attempt("hotkey-mark", reason, principal, "", () -> {
			HotKeyRequest wished = HotKeyRequest.parse(body.fields(HotKeyRequest.EXAMPLE), this.policies.get());
			List<Counter> counters = counters(wished);
			Counter counter = counters.get(0);
			requireSplit(counter.spec().limit(), wished.split());
			CounterName name = CounterName.of(counter);
			HotMark mark = new HotMark(name, wished.left(), AdminChanges.actor(principal), reason, wished.split());
			HotCounter before = find(name.key());
			HotCounter after = new HotCounter(name, (before != null) ? before.perSecond() : 0, true, mark);
			return mark(mark, counters).handle((put, failure) -> {
				if (failure != null) {
					throw unavailable();
				}
				if (!put) {
					throw AdminProblem.unavailable("There are " + HotStore.MAX_MARKS + " marks already");
				}
				return new AdminChanges.Result(text(name, before), text(name, after), describe(after));
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
	 * Takes a mark away. Fails with an {@link AdminProblem}.
	 * @param selectors as for marking, or the key alone as it is shown
	 */
	CompletionStage<Map<String, Object>> unmark(Map<String, Object> selectors, @Nullable Principal principal) {
		AdminBody wished = AdminBody.of(selectors);
		return this.changes.attempt("hotkey-unmark", wished.reason(), principal, "", () -> {
			wished.fields(HotKeyRequest.EXAMPLE);
			HotCounter before = find(selectors);
			CounterName name = (before != null) ? before.name() : name(selectors);
			HotCounter after = new HotCounter(name, (before != null) ? before.perSecond() : 0, false, null);
			CompletionStage<Void> unmarked = selectors.containsKey("key")
					? this.splits.unmark(name.key(), this.list.find(name.key())) : unmark(counters(selectors));
			return unmarked.handle((removed, failure) -> {
				if (failure != null) {
					throw unavailable();
				}
				Map<String, Object> answer = describe(after);
				// Whether it is hot without its mark is not known yet.
				answer.remove("hot");
				return new AdminChanges.Result(text(name, before), text(name, after), answer);
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

	private @Nullable HotCounter find(Map<String, Object> selectors) {
		if (selectors.get("key") instanceof String key) {
			HotCounter known = find(key);
			if (known == null) {
				throw AdminProblem.invalid("key", "There is no such key in the list",
						"Use a key as GET shows it, or policy, limit and dimensions.");
			}
			return known;
		}
		return find(name(selectors).key());
	}

	private @Nullable HotCounter find(String key) {
		return this.list.top().stream().filter((counter) -> counter.name().key().equals(key)).findFirst().orElse(null);
	}

	private CounterName name(Map<String, Object> selectors) {
		return CounterName.of(counters(selectors).get(0));
	}

	private List<Counter> counters(Map<String, Object> selectors) {
		return counters(HotKeyRequest.parse(selectors, this.policies.get()));
	}

	/** As requests have it, if there are some: their tier may give it other quotas. */
	private List<Counter> counters(HotKeyRequest wished) {
		return this.counters.apply(wished.request(), wished.limit()).stream().map((counter) -> {
			Counter known = this.list.find(counter.key());
			return (known != null) ? known : counter;
		}).toList();
	}

	private static void requireSplit(Limit limit, int split) {
		if (split > 1 && split <= limit.split()) {
			throw AdminProblem.invalid("split",
					"The limit is split in " + limit.split() + " already, not fewer than " + split,
					"Use more parts, or leave it out.");
		}
		long least = limit.quotas()
			.stream()
			.mapToLong((quota) -> Math.min(quota.permits(), quota.burst()))
			.min()
			.orElseThrow();
		if (!limit.fits(split)) {
			throw AdminProblem.invalid("split",
					"The counter cannot be kept in " + split + " parts, its smallest quota has only " + least
							+ " permits",
					"Use " + Math.min(least, Limit.MAX_SPLIT) + " parts at most, better a quarter of that.");
		}
	}

	private static AdminProblem unavailable() {
		return AdminProblem.unavailable("Redis could not be written; if it was only slow, the write may still arrive");
	}

	private String text(CounterName name, @Nullable HotCounter counter) {
		HotMark mark = (counter != null) ? counter.mark() : null;
		return name.policy() + "/" + name.limit() + " " + name.key()
				+ ((mark != null) ? " marked until " + until(mark) + split(mark) : " not marked");
	}

	private static String split(HotMark mark) {
		return (mark.split() > 1) ? " in " + mark.split() + " parts" : "";
	}

	private static Map<String, Object> describe(RefusedKey refused) {
		Map<String, Object> described = describe(refused.name());
		described.put("refusals", refused.refusals());
		return described;
	}

	private static Map<String, Object> describe(CounterName name) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("policy", name.policy());
		described.put("limit", name.limit());
		described.put("key", name.key());
		return described;
	}

	private Map<String, Object> describe(HotCounter counter) {
		Map<String, Object> described = describe(counter.name());
		described.put("rate", counter.perSecond());
		described.put("hot", counter.hot());
		HotMark mark = counter.mark();
		described.put("marked", mark != null);
		if (mark != null) {
			described.put("until", until(mark));
			described.put("actor", mark.actor());
			described.put("reason", mark.reason());
			if (mark.split() > 1) {
				described.put("split", mark.split());
			}
		}
		return described;
	}

	private String until(HotMark mark) {
		return this.clock.instant().plus(mark.left()).truncatedTo(ChronoUnit.SECONDS).toString();
	}

}
