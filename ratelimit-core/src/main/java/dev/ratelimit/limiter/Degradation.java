package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.List;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

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
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.policy.Match;

/**
 * Decides in place of counters that do not answer: the floor of the policy, a failure
 * mode and the ceiling of the policy.
 *
 * <p>
 * The floor counts each IP, the ceiling all callers of the policy together, at this
 * instance's share of it. A request that one of them refuses takes nothing from the
 * others: otherwise a caller that is over its own limit would use up the ceiling of all.
 * The fleet admits at most the ceiling, and half a permit per instance by rounding, or
 * one per instance if the ceiling is smaller than the fleet. It fails if instances
 * disagree about the size of the fleet, by as much as they do.
 *
 * <p>
 * Under {@code local} an instance counts in memory, by GCRA, at its share of each limit.
 * A cost above the burst of a share passes when the share is full and is owed, otherwise
 * it would never pass. The counts are kept when Redis is back, so that a flapping node
 * grants no permit twice.
 */
final class Degradation {

	/**
	 * An instance may admit one and a half times its share of a limit: traffic is never
	 * spread evenly.
	 */
	private static final double SLACK = 1.5;

	/** What the ceiling counts by. Callers have no such fact. */
	private static final Dimension POLICY = new Dimension("policy");

	private static final int MAX_SHARES = 10_000;

	private static final UnansweredException NOT_LOCAL = new UnansweredException(Decision.Reason.INTERNAL,
			"the counters of this process did not answer at once");

	private final Fallback fallback;

	private final CounterKeys keys;

	private final CounterResolver resolver;

	private final Settles settles;

	private final Cache<Quota, CounterSpec> floors = cache();

	private final Cache<Quota, CounterSpec> ceilings = cache();

	private final Cache<Share, CounterSpec> shares = cache();

	Degradation(Fallback fallback, CounterKeys keys, CounterResolver resolver, Settles settles) {
		this.fallback = fallback;
		this.keys = keys;
		this.resolver = resolver;
		this.settles = settles;
	}

	private static <K> Cache<K, CounterSpec> cache() {
		return Caffeine.newBuilder().maximumSize(MAX_SHARES).executor(Runnable::run).build();
	}

	/**
	 * Decides in place of counters.
	 * @param mode the failure mode
	 * @param counters counters that did not answer or were not asked
	 */
	Decision decide(FailureMode mode, Match match, Request request, List<Counter> counters, Decision.Reason reason) {
		Grant floor = take(floor(match, request), request);
		if (floor != null && floor.refused()) {
			return decision(mode, match, request, floor, reason);
		}
		Grant local = (mode == FailureMode.LOCAL) ? take(shares(counters, SLACK), request) : null;
		if (local != null && local.refused()) {
			giveBack(floor);
			return decision(mode, match, request, local, reason);
		}
		Grant ceiling = take(ceiling(match), request);
		if (ceiling != null && ceiling.refused()) {
			giveBack(floor);
			giveBack(local);
			return decision(mode, match, request, ceiling, reason);
		}
		if (local != null) {
			return this.settles.local(match, decision(mode, match, request, local, reason), local,
					this.fallback.local());
		}
		return Decision.by((mode == FailureMode.LOCAL) ? FailureMode.ALLOW : mode, request, match.policy().version(),
				reason);
	}

	private List<Counter> floor(Match match, Request request) {
		Quota floor = match.policy().settings().degradedFloor();
		String ip = (floor != null) ? this.resolver.value(Dimension.IP, request) : null;
		return (floor == null || ip == null) ? List.of() : List
			.of(new Counter(this.floors.get(floor, Degradation::floor), this.keys, match.policy().id(), List.of(ip)));
	}

	private List<Counter> ceiling(Match match) {
		Quota ceiling = match.policy().settings().degradedCeiling();
		if (ceiling == null) {
			return List.of();
		}
		String policy = match.policy().id();
		CounterSpec spec = this.ceilings.get(ceiling, Degradation::ceiling);
		return shares(List.of(new Counter(spec, this.keys, policy, List.of(policy))), 1);
	}

	/** This instance's share of counters, times a factor. */
	private List<Counter> shares(List<Counter> counters, double factor) {
		double share = factor / this.fallback.instances().getAsInt();
		List<Counter> shares = new ArrayList<>(counters.size());
		for (Counter counter : counters) {
			shares.add(counter.with(this.shares.get(new Share(counter.spec(), share), Share::part)));
		}
		return shares;
	}

	private void giveBack(@Nullable Grant grant) {
		if (grant != null && grant.permits() > 0) {
			this.fallback.local().giveBack(grant, grant.permits());
		}
	}

	/**
	 * Takes the cost of a request from counters of this process, which answer at once.
	 * @return {@code null} if there are no counters
	 */
	private @Nullable Grant take(List<Counter> counters, Request request) {
		if (counters.isEmpty()) {
			return null;
		}
		long burst = Long.MAX_VALUE;
		for (Counter counter : counters) {
			burst = Math.min(burst, counter.spec().largestCost());
		}
		Grant grant = this.fallback.local()
			.acquire(counters, Permits.owing(request.cost(), burst))
			.getNow(Grant.unanswered(Permits.NONE, counters, NOT_LOCAL));
		if (!grant.complete()) {
			throw grant.gaps().get(0).cause();
		}
		return grant;
	}

	private static CounterSpec floor(Quota quota) {
		return new CounterSpec(Algorithm.GCRA, new Limit("degraded-floor", List.of(Dimension.IP), List.of(quota)));
	}

	private static CounterSpec ceiling(Quota quota) {
		return new CounterSpec(Algorithm.GCRA, new Limit("degraded-ceiling", List.of(POLICY), List.of(quota)));
	}

	private static Decision decision(FailureMode mode, Match match, Request request, Grant grant,
			Decision.Reason reason) {
		Decision.Outcome outcome = grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED;
		return new Decision(match.policy().id(), match.policy().version(), !grant.refused(), outcome, reason,
				Decision.Source.LOCAL, false, mode, request.cost(), 0, grant.statuses(), Receipt.NOTHING);
	}

	/**
	 * The share that an instance has of a limit.
	 */
	private record Share(CounterSpec spec, double of) {

		CounterSpec part() {
			Limit limit = this.spec.limit();
			List<Quota> quotas = limit.quotas().stream().map((quota) -> quota.scaled(this.of)).toList();
			// Not split: in memory there is no node to relieve.
			return this.spec.with(Algorithm.GCRA, limit.withSplit(1).withQuotas(quotas));
		}

	}

}
