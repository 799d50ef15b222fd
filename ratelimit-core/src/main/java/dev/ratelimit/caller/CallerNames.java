package dev.ratelimit.refusal;

import java.util.List;
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

	/**
	 * All that it may go by in what was kept, as keys of pseudonyms change.
	 */
	public Map<String, List<String>> known(Map<Dimension, String> dimensions) {
		Map<String, List<String>> names = new TreeMap<>();
		dimensions.forEach((dimension, value) -> names.put(dimension.name(),
				isOwn(dimension) ? List.of(value) : this.pseudonyms.known(dimension, counted(dimension, value))));
		return names;
	}

	private String of(Dimension dimension, String value) {
		return isOwn(dimension) ? value : this.pseudonyms.of(dimension, counted(dimension, value));
	}

	private static boolean isOwn(Dimension dimension) {
		return dimension.equals(Dimension.ROUTE) || dimension.equals(Dimension.REGION);
	}

	private String counted(Dimension dimension, String value) {
		IpAddress address = dimension.equals(Dimension.IP) ? IpAddress.parse(value) : null;
		return (address != null) ? address.group(this.ipv6Prefix).toString() : value;
	}

}
