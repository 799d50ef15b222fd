package dev.ratelimit.split;

import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotMark;

/**
 * The number of parts of a counter: as a mark says, or as its limit does. Asked with
 * every request: without a mark that splits, this is a look at an empty array; otherwise
 * hashes are compared first, and the key, a digest, is made once for a counter that fits.
 */
public final class MarkedSplits implements Splitting {

	private final HotCounters hot;

	private volatile Marked current = new Marked(List.of());

	public MarkedSplits(HotCounters hot) {
		this.hot = hot;
	}

	@Override
	public int parts(Counter counter) {
		List<HotMark> marks = this.hot.marks();
		Marked current = this.current;
		if (current.marks != marks) {
			current = new Marked(marks);
			this.current = current;
		}
		return current.parts(counter);
	}

	/**
	 * The marks that split counters, by the hashes of these.
	 */
	private static final class Marked {

		private final List<HotMark> marks;

		private final int[] hashes;

		private final Entry[] entries;

		Marked(List<HotMark> marks) {
			this.marks = marks;
			List<HotMark> splits = marks.stream()
				.filter((mark) -> mark.split() > 1)
				.sorted(Comparator.comparing((mark) -> mark.name().hash()))
				.toList();
			this.hashes = splits.stream().mapToInt((mark) -> mark.name().hash()).toArray();
			this.entries = splits.stream().map(Entry::new).toArray(Entry[]::new);
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

	}

	/**
	 * One counter that is split.
	 */
	private static final class Entry {

		private final HotMark mark;

		private volatile @Nullable Known known;

		Entry(HotMark mark) {
			this.mark = mark;
		}

		/** The number of parts, or 0 if this is another counter. */
		int parts(Counter counter) {
			Known known = this.known;
			if (known != null && known.spec() == counter.spec() && known.counter().equals(counter)) {
				return known.parts();
			}
			if (!this.mark.name().key().equals(counter.key())) {
				return 0;
			}
			int configured = counter.spec().limit().split();
			// The limit may have become too small since it was marked.
			int parts = counter.spec().limit().fits(this.mark.split()) ? Math.max(configured, this.mark.split())
					: configured;
			this.known = new Known(counter, counter.spec(), parts);
			return parts;
		}

	}

	private record Known(Counter counter, CounterSpec spec, int parts) {
	}

}
