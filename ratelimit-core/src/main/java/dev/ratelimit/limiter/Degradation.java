package dev.ratelimit.limiter;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Quota;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.policy.Match;

/**
 * Answers for counters that cannot: the failure mode of the policy, after its floor.
 */
final class Degradation {

	/**
	 * What an instance may admit of a limit is its share and half as much again: traffic
	 * is never spread evenly.
	 */
	private static final double SLACK = 1.5;

	private final Counters local;

	private final CounterKeys keys;

	private final CounterResolver resolver;

	private final int instances;

	Degradation(Counters local, CounterKeys keys, CounterResolver resolver, int instances) {
		this.local = local;
		this.keys = keys;
		this.resolver = resolver;
		this.instances = instances;
	}

	CompletionStage<Decision> decide(Match match, Request request, Decision.Reason reason) {
		Quota floor = match.policy().settings().degradedFloor();
		String ip = this.resolver.value(Dimension.IP, request);
		if (floor == null || ip == null) {
			return answer(match, request, reason);
		}
		Limit limit = new Limit("degraded-floor", List.of(Dimension.IP), List.of(floor));
		Counter counter = counter(match, limit, List.of(ip));
		return this.local.acquire(List.of(counter), permits(request, limit))
			.thenCompose((grant) -> grant.refused()
					? CompletableFuture.completedStage(decision(match, request, grant, reason))
					: answer(match, request, reason));
	}

	private CompletionStage<Decision> answer(Match match, Request request, Decision.Reason reason) {
		return switch (match.onFailure()) {
			case ALLOW -> CompletableFuture.completedStage(without(match, request, true, reason));
			case DENY -> CompletableFuture.completedStage(without(match, request, false, reason));
			case LOCAL -> local(match, request, reason);
		};
	}

	private CompletionStage<Decision> local(Match match, Request request, Decision.Reason reason) {
		List<Counter> counters = this.resolver.resolve(match, request);
		if (counters == null || counters.isEmpty()) {
			return CompletableFuture.completedStage(without(match, request, true, reason));
		}
		List<Counter> shares = counters.stream().map(this::share).toList();
		long cost = shares.stream()
			.mapToLong((share) -> share.spec().limit().largestCost())
			.reduce(request.cost(), Math::min);
		return this.local.acquire(shares, Permits.exactly(cost))
			.thenApply((grant) -> decision(match, request, grant, reason));
	}

	/**
	 * This instance's share of a limit. A cost above it passes when the share is full, or
	 * it would never pass.
	 */
	private Counter share(Counter counter) {
		Limit limit = counter.spec().limit();
		double share = SLACK / this.instances;
		List<Quota> quotas = limit.quotas().stream().map((quota) -> quota.scaled(share)).toList();
		return new Counter(new CounterSpec(Algorithm.GCRA, limit.withQuotas(quotas)), counter.key());
	}

	private Counter counter(Match match, Limit limit, List<String> values) {
		String key = this.keys.key(match.policy().id(), Algorithm.GCRA, limit, values);
		return new Counter(new CounterSpec(Algorithm.GCRA, limit), key);
	}

	private static Permits permits(Request request, Limit limit) {
		return Permits.exactly(Math.min(request.cost(), limit.largestCost()));
	}

	private static Decision without(Match match, Request request, boolean allowed, Decision.Reason reason) {
		return Decision.without(request, match.policy().version(), allowed, Decision.Outcome.ERROR, reason);
	}

	private static Decision decision(Match match, Request request, Grant grant, Decision.Reason reason) {
		Decision.Outcome outcome = grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED;
		return new Decision(match.policy().id(), match.policy().version(), !grant.refused(), outcome, reason,
				Decision.Source.LOCAL, false, true, request.cost(), 0, grant.statuses(), Receipt.NOTHING);
	}

}
