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
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Reads and resets the counters of single callers, limit by limit. It takes no permits,
 * and ignores lists and the switch.
 *
 * <p>
 * The request holds the known dimensions of the caller. Limits that count by other
 * dimensions are left out and listed in {@link Found#missing}.
 */
public final class CallerUsage {

	private final Supplier<PolicySet> policies;

	private final CounterResolver resolver;

	private final Counters counters;

	CallerUsage(Supplier<PolicySet> policies, CounterResolver resolver, Counters counters) {
		this.policies = policies;
		this.resolver = resolver;
		this.counters = counters;
	}

	/**
	 * Finds the counters of a caller.
	 * @param limits selects limits
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
				List<Counter> resolved = resolve(match, spec, request);
				counters.addAll(resolved);
				if (resolved.isEmpty()) {
					missing.put(spec.limit().name(), unknown(spec.limit(), request));
				}
			}
		}
		return new Found(match, counters, missing, policies.trial(request));
	}

	/**
	 * Reads counters that were found. The counters of each limit have a call of their
	 * own, so that a missing answer affects one limit only.
	 */
	public CompletionStage<List<LimitUsage>> read(Found found, Request request) {
		List<CompletableFuture<LimitUsage>> usages = found.limits()
			.stream()
			.map((limit) -> read(found.counters(limit), request).toCompletableFuture())
			.toList();
		return CompletableFuture.allOf(usages.toArray(CompletableFuture<?>[]::new))
			.thenApply((done) -> usages.stream().map(CompletableFuture::join).toList());
	}

	/**
	 * Resets counters that were found, also those of a version on trial.
	 */
	public CompletionStage<Void> reset(Found found, Request request) {
		List<Counter> counters = new ArrayList<>(found.counters());
		Match trial = found.trial();
		if (trial != null) {
			for (CounterSpec spec : trial.specs()) {
				if (found.limits().contains(spec.limit().name())) {
					counters.addAll(resolve(trial, spec, request));
				}
			}
		}
		return this.counters.reset(counters);
	}

	/**
	 * The counter of one limit for the request's caller; two for a while after a change
	 * of epochs.
	 * @throws IllegalArgumentException if there is no such policy or limit, or the
	 * request lacks a dimension of it
	 */
	public List<Counter> counters(Request request, String limit) {
		Match match = this.policies.get().match(request);
		if (match != null) {
			for (CounterSpec spec : match.specs()) {
				List<Counter> counters = this.resolver.resolve(match, spec, request, MissingIdentity.SKIP);
				if (spec.limit().name().equals(limit) && !counters.isEmpty()) {
					return counters;
				}
			}
		}
		throw new IllegalArgumentException("policy '" + request.policy() + "' has no limit '" + limit
				+ "', or it counts by dimensions that the request does not have");
	}

	/**
	 * As requests are counted: the IP replaces missing dimensions if the policy says so.
	 */
	private List<Counter> resolve(Match match, CounterSpec spec, Request request) {
		return this.resolver.resolve(match, spec, request, match.policy().settings().onMissingIdentity());
	}

	private CompletionStage<LimitUsage> read(List<Counter> counters, Request request) {
		CounterSpec spec = counters.get(0).spec();
		return this.counters.read(counters).handle((grant, failure) -> {
			boolean answered = failure == null && grant.complete();
			long held = counters.stream().mapToLong(this.counters::held).min().orElseThrow();
			return new LimitUsage(spec.limit(), spec.enforcement(), counters.get(0).key(),
					unknown(spec.limit(), request), answered ? List.copyOf(grant.statuses()) : List.of(), held);
		});
	}

	private static List<Dimension> unknown(Limit limit, Request request) {
		return limit.by().stream().filter((by) -> !request.dimensions().containsKey(by)).toList();
	}

	/**
	 * Counters of a caller.
	 *
	 * @param match the policy as it applies to the caller
	 * @param counters the counters of each limit whose dimensions are known: one, or two
	 * for a while after a change of epochs
	 * @param missing dimensions that are not known, by the name of the limit
	 * @param trial a version on trial, usually {@code null}
	 */
	public record Found(Match match, List<Counter> counters, Map<String, List<Dimension>> missing,
			@Nullable Match trial) {

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
