package dev.ratelimit.hot;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import dev.ratelimit.counter.Counter;

/**
 * The busiest counters and the marks of the fleet, as of the last exchange. Immutable.
 */
final class FleetView {

	private final HotStore.View view;

	private final long threshold;

	private final Map<String, Long> rates = new HashMap<>();

	private final Map<String, HotMark> marks = new HashMap<>();

	/** Hashes of the hot counters, sorted. */
	private final int[] hashes;

	/**
	 * @param threshold checks per second over the fleet that make a counter hot
	 */
	FleetView(HotStore.View view, long threshold) {
		this.view = view;
		this.threshold = threshold;
		view.fleet().forEach((key) -> this.rates.put(key.name().key(), key.perSecond()));
		view.marks().forEach((mark) -> this.marks.put(mark.name().key(), mark));
		this.hashes = IntStream
			.concat(view.fleet()
				.stream()
				.filter((key) -> key.perSecond() >= threshold)
				.mapToInt((key) -> key.name().hash()), view.marks().stream().mapToInt((mark) -> mark.name().hash()))
			.sorted()
			.toArray();
	}

	List<HotMark> marks() {
		return this.view.marks();
	}

	/**
	 * Whether the counter is hot. Compares the hash first: the key, which is a digest, is
	 * made only for a match.
	 */
	boolean contains(Counter counter) {
		return this.hashes.length > 0 && Arrays.binarySearch(this.hashes, counter.wholeHash()) >= 0
				&& isHot(counter.whole().key());
	}

	boolean isHot(String key) {
		return this.marks.containsKey(key) || rate(key) >= this.threshold;
	}

	/** Whether a counter that is hot stays hot. */
	boolean isHeld(String key) {
		return this.marks.containsKey(key) || 2 * rate(key) >= this.threshold;
	}

	/**
	 * The busiest counters, then marked ones without traffic.
	 * @param hot keys of counters that are hot in this instance
	 */
	List<HotCounter> counters(Set<String> hot) {
		List<HotCounter> counters = new ArrayList<>();
		for (HotKey busy : this.view.fleet()) {
			String key = busy.name().key();
			counters.add(new HotCounter(busy.name(), busy.perSecond(), isHot(key) || hot.contains(key),
					this.marks.get(key)));
		}
		for (HotMark mark : this.view.marks()) {
			if (!this.rates.containsKey(mark.name().key())) {
				counters.add(new HotCounter(mark.name(), 0, true, mark));
			}
		}
		return List.copyOf(counters);
	}

	private long rate(String key) {
		return this.rates.getOrDefault(key, 0L);
	}

}
