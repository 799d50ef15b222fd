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
 * Which counters a request has. Pure: the same request under the same policy always has
 * the same ones.
 */
final class CounterResolver {

	private final CounterKeys keys;

	private final int ipv6Prefix;

	CounterResolver(CounterKeys keys, int ipv6Prefix) {
		this.keys = keys;
		this.ipv6Prefix = ipv6Prefix;
	}

	/**
	 * The counters of a request, fewer than the policy has limits if some are left out.
	 * @return {@code null} if the request lacks a dimension and the policy turns such
	 * requests away
	 */
	@Nullable List<Counter> resolve(Match match, Request request) {
		MissingIdentity onMissing = match.policy().settings().onMissingIdentity();
		List<Counter> counters = new ArrayList<>(match.specs().size());
		for (CounterSpec spec : match.specs()) {
			List<String> values = values(spec.limit(), request, onMissing);
			if (values != null) {
				counters.add(new Counter(spec, this.keys, match.owner(), values));
			}
			else if (onMissing != MissingIdentity.SKIP) {
				return null;
			}
		}
		return counters;
	}

	/**
	 * The counter of one limit.
	 * @return {@code null} if the request lacks one of its dimensions
	 */
	@Nullable Counter resolve(Match match, CounterSpec spec, Request request) {
		List<String> values = values(spec.limit(), request, MissingIdentity.SKIP);
		return (values != null) ? new Counter(spec, this.keys, match.owner(), values) : null;
	}

	/**
	 * The counter of one limit, by the IP in place of what the request lacks if the
	 * policy says so.
	 * @return {@code null} if that cannot be done either
	 */
	@Nullable Counter resolveAsCounted(Match match, CounterSpec spec, Request request) {
		List<String> values = values(spec.limit(), request, match.policy().settings().onMissingIdentity());
		return (values != null) ? new Counter(spec, this.keys, match.owner(), values) : null;
	}

	private @Nullable List<String> values(Limit limit, Request request, MissingIdentity onMissing) {
		List<String> values = new ArrayList<>(limit.by().size());
		for (Dimension dimension : limit.by()) {
			String value = value(dimension, request);
			if (value == null && onMissing == MissingIdentity.IP) {
				String ip = value(Dimension.IP, request);
				// Typed, so that no user who is named like an address shares its counter.
				value = (ip != null) ? "\0ip:" + ip : null;
			}
			if (value == null) {
				return null;
			}
			values.add(value);
		}
		return values;
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
