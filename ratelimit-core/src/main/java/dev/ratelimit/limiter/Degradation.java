package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
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
 * it would never pass. The share remembers the whole debt: the largest cost seen bounds
 * what it can owe. The counts are kept when Redis is back, so that a flapping node grants
 * no permit twice.
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

	/** The largest cost decided here, by policy, rounded up to a power of two. */
	private final Map<String, Long> largestCosts = new ConcurrentHashMap<>();

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
		long cost = owed(match.policy(), request.cost());
		long largest = largestCost(match.policy().id(), cost);
		Grant floor = take(shares(floor(match, request), 1, largest), cost);
		if (floor != null && floor.refused()) {
			return decision(mode, match, request, floor, reason);
		}
		Grant local = (mode == FailureMode.LOCAL) ? take(shares(counters, share(SLACK), largest), cost) : null;
		if (local != null && local.refused()) {
			giveBack(floor);
			return decision(mode, match, request, local, reason);
		}
		Grant ceiling = take(shares(ceiling(match), share(1), largest), cost);
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
		return List.of(new Counter(spec, this.keys, policy, List.of(policy)));
	}

	/** This instance's share of a limit, times a factor. */
	private double share(double factor) {
		return factor / this.fallback.instances().getAsInt();
	}

	/**
	 * A share of counters.
	 * @param largest the largest cost that the share may have to owe
	 */
	private List<Counter> shares(List<Counter> counters, double share, long largest) {
		List<Counter> shares = new ArrayList<>(counters.size());
		for (Counter counter : counters) {
			CounterSpec spec = counter.spec();
			double bursts = Math.max(1, (double) largest / spec.largestCost());
			shares.add(counter.with(this.shares.get(new Share(spec, share, bursts), Share::part)));
		}
		return shares;
	}

	/**
	 * What a request owes: its cost, but no more than the policy ever admits at once.
	 * Otherwise one absurd cost would keep all other callers out for days.
	 */
	private long owed(Policy policy, long cost) {
		Long known = this.largestCosts.get(policy.id());
		return (known != null && known >= cost) ? cost
				: Math.min(cost, Math.max(policy.largestCost(), policy.chargedCost()));
	}

	private long largestCost(String policy, long cost) {
		Long known = this.largestCosts.get(policy);
		if (known != null && known >= cost) {
			return known;
		}
		long rounded = Long.highestOneBit(Math.max(1, cost) * 2 - 1);
		return this.largestCosts.merge(policy, rounded, Math::max);
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
	private @Nullable Grant take(List<Counter> counters, long cost) {
		if (counters.isEmpty()) {
			return null;
		}
		long burst = Long.MAX_VALUE;
		for (Counter counter : counters) {
			burst = Math.min(burst, counter.spec().largestCost());
		}
		Grant grant = this.fallback.local()
			.acquire(counters, Permits.owing(cost, burst))
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
	 *
	 * @param bursts largest cost in bursts of the whole limit, at least 1
	 */
	private record Share(CounterSpec spec, double of, double bursts) {

		CounterSpec part() {
			Limit limit = this.spec.limit();
			List<Quota> quotas = limit.quotas().stream().map((quota) -> quota.scaled(this.of)).toList();
			// Not split: in memory there is no node to relieve.
			return this.spec.with(Algorithm.GCRA, limit.withSplit(1).withQuotas(quotas),
					this.bursts / Math.min(1, this.of));
		}

	}

}
