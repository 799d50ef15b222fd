package dev.ratelimit.refusal;

import java.util.Map;
import java.util.TreeMap;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.counter.Pseudonyms;

/**
 * What callers go by where they are written down, the same when it is written and when it
 * is looked for. The route and the region are the operator's own names, all else is a
 * pseudonym. Of an IPv6 address it is that of its network, as counters have it.
 */
public final class CallerNames {

	private final Pseudonyms pseudonyms;

	private final int ipv6Prefix;

	public CallerNames(Pseudonyms pseudonyms, int ipv6Prefix) {
		this.pseudonyms = pseudonyms;
		this.ipv6Prefix = ipv6Prefix;
	}

	/**
	 * All that is known about a caller, by the names of dimensions.
	 */
	public Map<String, String> of(Map<Dimension, String> dimensions) {
		Map<String, String> names = new TreeMap<>();
		dimensions.forEach((dimension, value) -> names.put(dimension.name(), of(dimension, value)));
		return names;
	}

	private String of(Dimension dimension, String value) {
		if (dimension.equals(Dimension.ROUTE) || dimension.equals(Dimension.REGION)) {
			return value;
		}
		IpAddress address = dimension.equals(Dimension.IP) ? IpAddress.parse(value) : null;
		return this.pseudonyms.of(dimension, (address != null) ? address.group(this.ipv6Prefix).toString() : value);
	}

}
