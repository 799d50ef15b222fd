package dev.ratelimit.policy;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.IpAddress;

/**
 * Ranges of IPs, one hash table for each length of prefix: a look-up costs as much with a
 * hundred thousand as with ten. Read by many threads and written by one at a time.
 */
final class IpRanges {

	private volatile List<Prefix> prefixes = List.of();

	boolean isEmpty() {
		return this.prefixes.isEmpty();
	}

	void add(IpAddress.Range range) {
		Prefix prefix = prefix(range);
		if (prefix == null) {
			prefix = new Prefix(range.network().bits(), range.prefix(), ConcurrentHashMap.newKeySet());
			prefix.networks().add(range.network());
			this.prefixes = Stream.concat(this.prefixes.stream(), Stream.of(prefix)).toList();
		}
		else {
			prefix.networks().add(range.network());
		}
	}

	void remove(IpAddress.Range range) {
		Prefix prefix = prefix(range);
		if (prefix != null) {
			prefix.networks().remove(range.network());
			if (prefix.networks().isEmpty()) {
				this.prefixes = this.prefixes.stream().filter((other) -> other != prefix).toList();
			}
		}
	}

	boolean contains(@Nullable String ip) {
		IpAddress address = (ip != null) ? IpAddress.parse(ip) : null;
		if (address != null) {
			List<Prefix> prefixes = this.prefixes;
			for (int i = 0; i < prefixes.size(); i++) {
				if (prefixes.get(i).contains(address)) {
					return true;
				}
			}
		}
		return false;
	}

	int size() {
		return this.prefixes.stream().mapToInt((prefix) -> prefix.networks().size()).sum();
	}

	private @Nullable Prefix prefix(IpAddress.Range range) {
		return this.prefixes.stream()
			.filter((prefix) -> prefix.length() == range.prefix() && prefix.bits() == range.network().bits())
			.findFirst()
			.orElse(null);
	}

	private record Prefix(int bits, int length, Set<IpAddress> networks) {

		boolean contains(IpAddress address) {
			return address.bits() == this.bits && this.networks.contains(address.network(this.length));
		}

	}

}
