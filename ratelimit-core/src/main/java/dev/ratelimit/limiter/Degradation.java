package dev.ratelimit.limiter;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Quota;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.policy.Match;

/**
 * Answers for counters that cannot: the floor of the policy first, then a failure mode.
 *
 * <p>
 * Under {@code local} an instance counts by itself, by GCRA, at its share of each limit.
 * A cost above the burst of a share passes when the share is full and is owed, or it
 * would never pass. The counts stay where they are when Redis is back, so that a node
 * that comes and goes hands out nothing twice.
 */
final class Degradation {

	/**
	 * What an instance may admit of a limit is its share and half as much again: traffic
	 * is never spread evenly.
	 */
	private static final double SLACK = 1.5;

	private static final int MAX_SHARES = 10_000;

	private final Fallback fallback;

	private final CounterKeys keys;

	private final CounterResolver resolver;

	private final Cache<Quota, CounterSpec> floors = Caffeine.newBuilder()
		.maximumSize(MAX_SHARES)
		.executor(Runnable::run)
		.build();

	private final Cache<Share, CounterSpec> shares = Caffeine.newBuilder()
		.maximumSize(MAX_SHARES)
		.executor(Runnable::run)
		.build();

	Degradation(Fallback fallback, CounterKeys keys, CounterResolver resolver) {
		this.fallback = fallback;
		this.keys = keys;
		this.resolver = resolver;
	}

	/**
	 * Answers for the counters that a grant lacks.
	 */
	CompletionStage<Decision> decide(FailureMode mode, Match match, Request request, Grant grant,
			Decision.Reason reason) {
		return decide(mode, match, request, grant.gaps().stream().flatMap((gap) -> gap.counters().stream()).toList(),
				reason);
	}

	/**
	 * Answers for counters.
	 * @param mode how
	 * @param counters those that did not answer, or were not asked
	 */
	CompletionStage<Decision> decide(FailureMode mode, Match match, Request request, List<Counter> counters,
			Decision.Reason reason) {
		Quota floor = match.policy().settings().degradedFloor();
		String ip = (floor != null) ? this.resolver.value(Dimension.IP, request) : null;
		if (floor == null || ip == null) {
			return answer(mode, match, request, counters, reason);
		}
		CounterSpec spec = this.floors.get(floor, Degradation::floor);
		Counter counter = new Counter(spec, this.keys, match.policy().id(), List.of(ip));
		return acquire(List.of(counter), request).thenCompose((grant) -> grant.refused()
				? CompletableFuture.completedFuture(decision(mode, match, request, grant, reason))
				: answer(mode, match, request, counters, reason));
	}

	private CompletionStage<Decision> answer(FailureMode mode, Match match, Request request, List<Counter> counters,
			Decision.Reason reason) {
		return switch (mode) {
			case ALLOW, DENY ->
				CompletableFuture.completedFuture(Decision.by(mode, request, match.policy().version(), reason));
			case LOCAL -> local(match, request, counters, reason);
		};
	}

	private CompletionStage<Decision> local(Match match, Request request, List<Counter> counters,
			Decision.Reason reason) {
		if (counters.isEmpty()) {
			return answer(FailureMode.ALLOW, match, request, counters, reason);
		}
		double share = SLACK / this.fallback.instances().getAsInt();
		List<Counter> shares = counters.stream()
			.map((counter) -> counter.with(this.shares.get(new Share(counter.spec(), share), Share::part)))
			.toList();
		return acquire(shares, request)
			.thenApply((grant) -> decision(FailureMode.LOCAL, match, request, grant, reason));
	}

	private CompletionStage<Grant> acquire(List<Counter> counters, Request request) {
		long burst = counters.stream().mapToLong((counter) -> counter.spec().largestCost()).min().orElseThrow();
		return this.fallback.local().acquire(counters, Permits.owing(request.cost(), burst));
	}

	private static CounterSpec floor(Quota quota) {
		return new CounterSpec(Algorithm.GCRA, new Limit("degraded-floor", List.of(Dimension.IP), List.of(quota)));
	}

	private static Decision decision(FailureMode mode, Match match, Request request, Grant grant,
			Decision.Reason reason) {
		Decision.Outcome outcome = grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED;
		return new Decision(match.policy().id(), match.policy().version(), !grant.refused(), outcome, reason,
				Decision.Source.LOCAL, false, mode, request.cost(), 0, grant.statuses(), Receipt.NOTHING);
	}

	/**
	 * What an instance has of a limit.
	 */
	private record Share(CounterSpec spec, double of) {

		CounterSpec part() {
			Limit limit = this.spec.limit();
			List<Quota> quotas = limit.quotas().stream().map((quota) -> quota.scaled(this.of)).toList();
			// In one piece: here is no node to relieve.
			return this.spec.with(Algorithm.GCRA, limit.withSplit(1).withQuotas(quotas));
		}

	}

}
