package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.policy.PolicySet;

/**
 * Decides requests by policies: which counters a request has, what they grant, what that
 * means.
 */
public final class PolicyRateLimiter implements RateLimiter {

	private final Supplier<PolicySet> policies;

	private final CounterKeys keys;

	private final Counters counters;

	/**
	 * Creates a limiter.
	 * @param policies the snapshot in force, asked for with every request
	 * @param keys how counters are named
	 * @param counters where they are kept
	 */
	public PolicyRateLimiter(Supplier<PolicySet> policies, CounterKeys keys, Counters counters) {
		this.policies = policies;
		this.keys = keys;
		this.counters = counters;
	}

	@Override
	public CompletionStage<Decision> check(Request request) {
		try {
			PolicySet.Entry entry = find(request.policy());
			List<Counter> counters = counters(entry, request);
			return this.counters.acquire(counters, Permits.between(request.atLeast(), request.cost()))
				.thenApply((grant) -> decide(entry.policy(), request, grant));
		}
		catch (IllegalArgumentException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/**
	 * What the request's caller has used, without taking anything.
	 */
	public CompletionStage<Decision> peek(Request request) {
		return check(request.withCost(0));
	}

	/**
	 * Forgets what was counted for the request's caller, under every limit of the policy.
	 */
	public CompletionStage<Void> reset(Request request) {
		return this.counters.reset(counters(find(request.policy()), request));
	}

	private PolicySet.Entry find(String id) {
		PolicySet.Entry entry = this.policies.get().find(id);
		if (entry == null) {
			throw new IllegalArgumentException("there is no policy '" + id + "'");
		}
		return entry;
	}

	private List<Counter> counters(PolicySet.Entry entry, Request request) {
		List<Counter> counters = new ArrayList<>(entry.specs().size());
		for (CounterSpec spec : entry.specs()) {
			String key = this.keys.key(entry.policy().id(), spec.algorithm(), spec.limit(),
					values(entry.policy(), spec.limit(), request));
			counters.add(new Counter(spec, key));
		}
		return counters;
	}

	private static List<String> values(Policy policy, Limit limit, Request request) {
		List<String> values = new ArrayList<>(limit.by().size());
		for (Dimension dimension : limit.by()) {
			String value = request.dimensions().get(dimension);
			if (value == null) {
				throw new IllegalArgumentException("policy '" + policy.id() + "', limit '" + limit.name()
						+ "' counts by '" + dimension + "', which the request does not have");
			}
			values.add(value);
		}
		return values;
	}

	private Decision decide(Policy policy, Request request, Grant grant) {
		Decision.Outcome outcome = grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED;
		Receipt receipt = (grant.permits() > 0) ? (permits) -> this.counters.giveBack(grant, permits) : Receipt.NOTHING;
		return new Decision(policy.id(), policy.version(), outcome, this.counters.source(), false, request.cost(),
				grant.permits(), grant.statuses(), receipt);
	}

}
