package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Limit;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Request;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.policy.Match;

/**
 * Finds the counters of a request: one for each limit, and for a while after a change of
 * epochs also the previous one. Except for that it is pure: the same request under the
 * same policy always has the same counters.
 */
final class CounterResolver {

	private final CounterKeys keys;

	private final int ipv6Prefix;

	CounterResolver(CounterKeys keys, int ipv6Prefix) {
		this.keys = keys;
		this.ipv6Prefix = ipv6Prefix;
	}

	/**
	 * The counters of a request, without those of limits that do not check it, are
	 * skipped or {@link #withheld}.
	 * @return {@code null} if the request lacks a dimension and the policy denies such
	 * requests
	 */
	@Nullable List<Counter> resolve(Match match, Request request) {
		MissingIdentity onMissing = match.policy().settings().onMissingIdentity();
		List<Counter> counters = new ArrayList<>(match.specs().size());
		// By index: runs for every request and must not allocate.
		for (int i = 0; i < match.specs().size(); i++) {
			CounterSpec spec = match.specs().get(i);
			if (request.counts(spec.limit()) && !isWithheld(match, spec.limit(), request)
					&& !add(match, spec, request, onMissing, counters)
					&& (onMissing != MissingIdentity.SKIP || hasFailed(spec.limit(), request))) {
				return null;
			}
		}
		return counters;
	}

	/**
	 * The attempt that a request is, {@code null} if it is counted whenever it is sent.
	 * @param counters those of the request
	 */
	static @Nullable Attempt attempt(Match match, Request request, List<Counter> counters) {
		Idempotency idempotency = match.policy().settings().idempotency();
		String key = request.idempotencyKey();
		if (idempotency == null || key == null || counters.isEmpty() || request.cost() == 0
				|| request.atLeast() != request.cost()) {
			return null;
		}
		return new Attempt(CounterKeys.attempt(match.owner(), counters, key), idempotency.ttl().toNanos() / 1_000,
				idempotency.maxReplays());
	}

	/**
	 * The counters of limits that depend on an API key that could not be verified: they
	 * count by its tenant, or its tier may have other quotas. The IP replaces the tenant
	 * in case the failure mode counts locally.
	 * @return {@code null} if there is no such limit
	 */
	@Nullable List<Counter> withheld(Match match, Request request) {
		List<Counter> counters = null;
		for (CounterSpec spec : match.specs()) {
			if (request.counts(spec.limit()) && isWithheld(match, spec.limit(), request)) {
				counters = (counters != null) ? counters : new ArrayList<>();
				add(match, spec, request, MissingIdentity.IP, counters);
			}
		}
		return counters;
	}

	/**
	 * The counters of one limit.
	 * @param onMissing whether the IP replaces missing dimensions
	 * @return none if the request lacks one of its dimensions, and the IP where that is
	 * to replace it
	 */
	List<Counter> resolve(Match match, CounterSpec spec, Request request, MissingIdentity onMissing) {
		List<Counter> counters = new ArrayList<>(2);
		add(match, spec, request, onMissing, counters);
		return counters;
	}

	/** Adds the counters of a limit unless the request lacks one of its dimensions. */
	private boolean add(Match match, CounterSpec spec, Request request, MissingIdentity onMissing,
			List<Counter> counters) {
		List<Dimension> by = spec.limit().by();
		if (by.size() == 1) {
			String value = value(by.get(0), request, onMissing);
			if (value != null) {
				this.keys.add(spec, match.owner(), value, counters);
			}
			return value != null;
		}
		List<String> values = new ArrayList<>(by.size());
		for (Dimension dimension : by) {
			String value = value(dimension, request, onMissing);
			if (value == null) {
				return false;
			}
			values.add(value);
		}
		this.keys.add(spec, match.owner(), values, counters);
		return true;
	}

	private @Nullable String value(Dimension dimension, Request request, MissingIdentity onMissing) {
		String value = value(dimension, request);
		if (value == null && (onMissing == MissingIdentity.IP
				|| (onMissing == MissingIdentity.SKIP && hasFailed(dimension, request)))) {
			String ip = value(Dimension.IP, request);
			return (ip != null) ? CounterKeys.inPlace(ip) : null;
		}
		return value;
	}

	private static boolean isWithheld(Match match, Limit limit, Request request) {
		if (!request.unresolved().apiKey()) {
			return false;
		}
		boolean byTenant = limit.by().contains(Dimension.TENANT) && !request.dimensions().containsKey(Dimension.TENANT);
		return byTenant || (request.tier() == null && match.policy()
			.settings()
			.tiers()
			.values()
			.stream()
			.anyMatch((tier) -> tier.limits().containsKey(limit.name())));
	}

	private static boolean hasFailed(Limit limit, Request request) {
		return limit.by().stream().anyMatch((dimension) -> hasFailed(dimension, request));
	}

	/** Callers may be able to make a resolver fail, which must not disable a limit. */
	private static boolean hasFailed(Dimension dimension, Request request) {
		return request.unresolved().dimensions().contains(dimension);
	}

	@Nullable String value(Dimension dimension, Request request) {
		String value = request.dimensions().get(dimension);
		return (value != null) ? CallerNames.counted(dimension, value, this.ipv6Prefix) : null;
	}

}
