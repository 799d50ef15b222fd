package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Limit;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.policy.Match;

/**
 * Which counters a request has: one for each limit, and for a while after the keys of
 * hashed values have changed another one behind it, as it was before. But for that it is
 * pure: the same request under the same policy always has the same ones.
 */
final class CounterResolver {

	private final CounterKeys keys;

	private final int ipv6Prefix;

	CounterResolver(CounterKeys keys, int ipv6Prefix) {
		this.keys = keys;
		this.ipv6Prefix = ipv6Prefix;
	}

	/**
	 * The counters of a request, of fewer limits than the policy has if some are left out
	 * or {@link #withheld}.
	 * @return {@code null} if the request lacks a dimension and the policy turns such
	 * requests away
	 */
	@Nullable List<Counter> resolve(Match match, Request request) {
		MissingIdentity onMissing = match.policy().settings().onMissingIdentity();
		List<Counter> counters = new ArrayList<>(match.specs().size());
		for (CounterSpec spec : match.specs()) {
			if (isWithheld(match, spec.limit(), request)) {
				continue;
			}
			List<String> values = values(spec.limit(), request, onMissing);
			if (values != null) {
				this.keys.add(spec, match.owner(), values, counters);
			}
			else if (onMissing != MissingIdentity.SKIP || hasFailed(spec.limit(), request)) {
				return null;
			}
		}
		return counters;
	}

	/**
	 * The counters of limits that need what an API key would give that could not be
	 * verified: the tenant that they count by, or the tier, which may have other quotas.
	 * The IP stands in for the tenant, should this process have to count by itself.
	 * @return {@code null} if there is no such limit
	 */
	@Nullable List<Counter> withheld(Match match, Request request) {
		List<Counter> counters = null;
		for (CounterSpec spec : match.specs()) {
			if (isWithheld(match, spec.limit(), request)) {
				counters = (counters != null) ? counters : new ArrayList<>();
				counters.addAll(resolve(match, spec, values(spec.limit(), request, MissingIdentity.IP)));
			}
		}
		return counters;
	}

	/**
	 * The counters of one limit.
	 * @return none if the request lacks one of its dimensions
	 */
	List<Counter> resolve(Match match, CounterSpec spec, Request request) {
		return resolve(match, spec, values(spec.limit(), request, MissingIdentity.SKIP));
	}

	/**
	 * The counters of one limit, by the IP in place of what the request lacks if the
	 * policy says so.
	 * @return none if that cannot be done either
	 */
	List<Counter> resolveAsCounted(Match match, CounterSpec spec, Request request) {
		return resolve(match, spec, values(spec.limit(), request, match.policy().settings().onMissingIdentity()));
	}

	private List<Counter> resolve(Match match, CounterSpec spec, @Nullable List<String> values) {
		List<Counter> counters = new ArrayList<>(2);
		if (values != null) {
			this.keys.add(spec, match.owner(), values, counters);
		}
		return counters;
	}

	private @Nullable List<String> values(Limit limit, Request request, MissingIdentity onMissing) {
		List<String> values = new ArrayList<>(limit.by().size());
		for (Dimension dimension : limit.by()) {
			String value = value(dimension, request);
			if (value == null && (onMissing == MissingIdentity.IP
					|| (onMissing == MissingIdentity.SKIP && hasFailed(dimension, request)))) {
				String ip = value(Dimension.IP, request);
				value = (ip != null) ? CounterKeys.inPlace(ip) : null;
			}
			if (value == null) {
				return null;
			}
			values.add(value);
		}
		return values;
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

	/** Callers may be able to make a resolver fail: that must not take a limit away. */
	private static boolean hasFailed(Dimension dimension, Request request) {
		return request.unresolved().dimensions().contains(dimension);
	}

	@Nullable String value(Dimension dimension, Request request) {
		String value = request.dimensions().get(dimension);
		if (value != null && dimension.equals(Dimension.IP)) {
			IpAddress address = IpAddress.parse(value);
			return (address != null) ? address.group(this.ipv6Prefix).toString() : value;
		}
		return value;
	}

}
