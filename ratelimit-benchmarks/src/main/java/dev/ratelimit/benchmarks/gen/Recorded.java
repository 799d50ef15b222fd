package dev.ratelimit.benchmarks.gen;

import java.util.zip.CRC32C;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.load.Arrival;
import dev.ratelimit.benchmarks.load.Arrivals;

/**
 * Keeps a checksum of a schedule while it is used, so that two runs can be seen to have
 * sent the same.
 */
final class Recorded implements Arrivals {

	private final Arrivals arrivals;

	private final CRC32C checksum = new CRC32C();

	Recorded(Arrivals arrivals) {
		this.arrivals = arrivals;
	}

	@Override
	public @Nullable Arrival next() {
		Arrival next = this.arrivals.next();
		if (next != null) {
			add(next.dueNanos());
			add((long) next.key() << Integer.SIZE | next.cost());
		}
		return next;
	}

	private void add(long number) {
		for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
			this.checksum.update((int) (number >>> shift) & 0xff);
		}
	}

	/** Of all that was taken so far. */
	String digest() {
		return String.format("%08x", this.checksum.getValue());
	}

}
