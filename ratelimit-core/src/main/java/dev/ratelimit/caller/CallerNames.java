package dev.ratelimit.caller;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;

/**
 * Stable pseudonyms of callers, for writing and for look-up. The values of route and
 * region stay readable, because operators choose them; all other values become
 * pseudonyms. An IPv6 address gets the pseudonym of its network, like its counter.
 */
public final class CallerNames {

	private final Pseudonyms pseudonyms;

	private final int ipv6Prefix;

	public CallerNames(Pseudonyms pseudonyms, int ipv6Prefix) {
		this.pseudonyms = pseudonyms;
		this.ipv6Prefix = ipv6Prefix;
	}

	/**
	 * The names of a caller's values, by dimension.
	 */
	public Map<String, String> of(Map<Dimension, String> dimensions) {
		Map<String, String> names = new TreeMap<>();
		dimensions.forEach((dimension, value) -> names.put(dimension.name(), of(dimension, value)));
		return names;
	}

	/**
	 * All names that stored data may contain for a caller's values, by dimension: with
	 * the current and the previous key of pseudonyms.
	 */
	public Map<String, List<String>> known(Map<Dimension, String> dimensions) {
		Map<String, List<String>> names = new TreeMap<>();
		dimensions.forEach((dimension, value) -> names.put(dimension.name(),
				isOwn(dimension) ? List.of(value) : this.pseudonyms.known(dimension, counted(dimension, value))));
		return names;
	}

	/**
	 * The value that a caller is counted under: of an IPv6 address its network, as a
	 * caller usually has all of it; any other value is counted as it is.
	 * @param ipv6Prefix bits of an IPv6 address that make a caller
	 */
	public static String counted(Dimension dimension, String value, int ipv6Prefix) {
		// An IPv4 address has one spelling.
		boolean ipv6 = dimension.equals(Dimension.IP) && value.indexOf(':') >= 0;
		IpAddress address = ipv6 ? IpAddress.parse(value) : null;
		return (address != null) ? address.group(ipv6Prefix).toString() : value;
	}

	private String of(Dimension dimension, String value) {
		return isOwn(dimension) ? value : this.pseudonyms.of(dimension, counted(dimension, value));
	}

	private static boolean isOwn(Dimension dimension) {
		return dimension.equals(Dimension.ROUTE) || dimension.equals(Dimension.REGION);
	}

	private String counted(Dimension dimension, String value) {
		return counted(dimension, value, this.ipv6Prefix);
	}

}
