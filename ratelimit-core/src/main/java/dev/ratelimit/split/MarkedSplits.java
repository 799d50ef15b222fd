package dev.ratelimit.hot;

import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.HotMark;

/**
 * In how many parts counters are kept that marks have split. Asked with every request:
 * without such a mark that is the look at an empty array, otherwise hashes are compared
 * first and the key, a digest, is made once for a counter that fits.
 */
final class MarkedSplits {

	static final MarkedSplits NONE = new MarkedSplits(List.of());

	private final int[] hashes;

	private final Entry[] entries;

	private MarkedSplits(List<HotMark> marks) {
		this.hashes = marks.stream().mapToInt((mark) -> mark.name().hash()).toArray();
		this.entries = marks.stream().map((mark) -> new Entry(mark.name().key(), mark.split())).toArray(Entry[]::new);
	}

	static MarkedSplits of(List<HotMark> marks) {
		List<HotMark> splits = marks.stream()
			.filter((mark) -> mark.split() > 1)
			.sorted(Comparator.comparing((mark) -> mark.name().hash()))
			.toList();
		return splits.isEmpty() ? NONE : new MarkedSplits(splits);
	}

	int parts(Counter counter) {
		int hash = counter.hashCode();
		for (int i = 0; i < this.hashes.length && this.hashes[i] <= hash; i++) {
			if (this.hashes[i] == hash) {
				int parts = this.entries[i].parts(counter);
				if (parts > 1) {
					return parts;
				}
			}
		}
		return counter.spec().limit().split();
	}

	/**
	 * One counter that is split.
	 */
	private static final class Entry {

		private final String key;

		private final int split;

		private volatile @Nullable Known known;

		Entry(String key, int split) {
			this.key = key;
			this.split = split;
		}

		/** 0 if it is another counter. */
		int parts(Counter counter) {
			Known known = this.known;
			if (known != null && known.spec() == counter.spec() && known.counter().equals(counter)) {
				return known.parts();
			}
			if (!this.key.equals(counter.key())) {
				return 0;
			}
			int configured = counter.spec().limit().split();
			// The limit may have become too small for it since.
			int parts = counter.spec().limit().fits(this.split) ? Math.max(configured, this.split) : configured;
			this.known = new Known(counter, counter.spec(), parts);
			return parts;
		}

	}

	private record Known(Counter counter, CounterSpec spec, int parts) {
	}

}
