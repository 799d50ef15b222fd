package dev.ratelimit.hot;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterName;

/**
 * Counters that others say are hot, looked up by those that are asked for here. The hash
 * is compared first: a key, which is a digest, is only made for a counter that fits.
 */
final class Wanted {

	static final Wanted NONE = new Wanted(List.of());

	private final int[] hashes;

	private final Set<String> keys;

	Wanted(List<CounterName> names) {
		this.hashes = names.stream().mapToInt(CounterName::hash).sorted().toArray();
		this.keys = names.stream().map(CounterName::key).collect(Collectors.toUnmodifiableSet());
	}

	boolean contains(Counter counter) {
		return this.hashes.length > 0 && Arrays.binarySearch(this.hashes, counter.hashCode()) >= 0
				&& this.keys.contains(counter.key());
	}

}
