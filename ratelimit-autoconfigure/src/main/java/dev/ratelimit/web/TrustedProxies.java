package dev.ratelimit.web;

import java.net.InetAddress;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.IpAddress;

/**
 * The networks of our own proxies, as far as they are configured.
 */
public final class TrustedProxies {

	private final IpAddress.Range[] ranges;

	public TrustedProxies(List<String> ranges) {
		this.ranges = ranges.stream().map(IpAddress.Range::parse).toArray(IpAddress.Range[]::new);
	}

	boolean areKnown() {
		return this.ranges.length > 0;
	}

	public boolean contain(@Nullable InetAddress address) {
		return areKnown() && address != null && contain(IpAddress.of(address));
	}

	public boolean contain(String address) {
		return areKnown() && contain(IpAddress.parse(address));
	}

	boolean contain(@Nullable IpAddress address) {
		for (IpAddress.Range range : this.ranges) {
			if (address != null && range.contains(address)) {
				return true;
			}
		}
		return false;
	}

}
