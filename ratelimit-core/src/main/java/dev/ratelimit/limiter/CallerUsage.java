package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Looks at the counters of single callers and resets them, limit by limit. Nothing is
 * taken, and neither lists nor the switch have a say: it is about what was counted.
 *
 * <p>
 * A request here has what is known about the caller. Limits that count by something else
 * are left out, which {@link Found#missing} tells.
 */
public final class CallerUsage {

	private final Supplier<PolicySet> policies;

	private final CounterResolver resolver;

	private final Counters counters;

	private final Parts parts;

	CallerUsage(Supplier<PolicySet> policies, CounterResolver resolver, Counters counters, Parts parts) {
		this.policies = policies;
		this.resolver = resolver;
		this.counters = counters;
		this.parts = parts;
	}

	/**
	 * Finds the counters of a caller.
	 * @param limits which limits are of interest
	 * @return {@code null} if there is no such policy
	 */
	public @Nullable Found find(Request request, Predicate<Limit> limits) {
		PolicySet policies = this.policies.get();
		Match match = policies.match(request);
		if (match == null) {
			return null;
		}
		List<Counter> counters = new ArrayList<>();
		Map<String, List<Dimension>> missing = new LinkedHashMap<>();
		for (CounterSpec spec : match.specs()) {
			if (limits.test(spec.limit())) {
				List<Counter> resolved = this.resolver.resolveAsCounted(match, spec, request);
				counters.addAll(resolved);
				if (resolved.isEmpty()) {
					missing.put(spec.limit().name(), unknown(spec.limit(), request));
				}
			}
		}
		return new Found(match, counters, missing, policies.beside(request));
	}

	/**
	 * What was used of counters that were found. Those of each limit are asked by
	 * themselves, so that one that does not answer hides no other.
	 */
	public CompletionStage<List<LimitUsage>> look(Found found, Request request) {
		CompletableFuture<List<LimitUsage>> all = CompletableFuture.completedFuture(List.of());
		for (String limit : found.limits()) {
			all = all.thenCombine(look(found.counters(limit), request), (before, usage) -> {
				List<LimitUsage> usages = new ArrayList<>(before);
				usages.add(usage);
				return usages;
			});
		}
		return all;
	}

	/**
	 * Forgets what was counted, also for a version that is tried out beside.
	 */
	public CompletionStage<Void> reset(Found found, Request request) {
		List<Counter> counters = new ArrayList<>(this.parts.all(found.counters()));
		Match beside = found.beside();
		if (beside != null) {
			for (CounterSpec spec : beside.specs()) {
				if (found.limits().contains(spec.limit().name())) {
					counters.addAll(this.parts.all(this.resolver.resolveAsCounted(beside, spec, request)));
				}
			}
		}
		return this.counters.reset(counters);
	}

	/**
	 * The counter that one limit has for the request's caller; two after a turn of keys.
	 * @throws IllegalArgumentException if there is no such policy or limit, or the
	 * request lacks a dimension of it
	 */
	public List<Counter> counters(Request request, String limit) {
		Match match = this.policies.get().match(request);
		if (match != null) {
			for (CounterSpec spec : match.specs()) {
				List<Counter> counters = this.resolver.resolve(match, spec, request);
				if (spec.limit().name().equals(limit) && !counters.isEmpty()) {
					return counters;
				}
			}
		}
		throw new IllegalArgumentException("policy '" + request.policy() + "' has no limit '" + limit
				+ "', or it counts by dimensions that the request does not have");
	}

	private CompletionStage<LimitUsage> look(List<Counter> counters, Request request) {
		CounterSpec spec = counters.get(0).spec();
		return this.counters.acquire(this.parts.all(counters), Permits.NONE).handle((grant, failure) -> {
			boolean answered = failure == null && grant.complete();
			long held = counters.stream().mapToLong(this::held).min().orElseThrow();
			return new LimitUsage(spec.limit(), spec.enforcement(), counters.get(0).key(),
					unknown(spec.limit(), request), answered ? statuses(grant) : List.of(), held);
		});
	}

	private long held(Counter counter) {
		return this.parts.all(List.of(counter)).stream().mapToLong(this.counters::held).sum();
	}

	private static List<LimitStatus> statuses(Grant grant) {
		return List.copyOf(grant.statuses());
	}

	private static List<Dimension> unknown(Limit limit, Request request) {
		return limit.by().stream().filter((by) -> !request.dimensions().containsKey(by)).toList();
	}

	/**
	 * Counters of a caller.
	 *
	 * @param match the policy as it applies to the caller
	 * @param counters those of each limit whose dimensions are known: one, or two for a
	 * while after the keys of hashed values have changed
	 * @param missing what is not known, by the name of the limit
	 * @param beside a version that counts beside, {@code null} as a rule
	 */
	public record Found(Match match, List<Counter> counters, Map<String, List<Dimension>> missing,
			@Nullable Match beside) {

		/**
		 * Names of the limits that have counters.
		 */
		public Set<String> limits() {
			return this.counters.stream()
				.map((counter) -> counter.spec().limit().name())
				.collect(Collectors.toCollection(LinkedHashSet::new));
		}

		List<Counter> counters(String limit) {
			return this.counters.stream().filter((counter) -> counter.spec().limit().name().equals(limit)).toList();
		}

	}

}
