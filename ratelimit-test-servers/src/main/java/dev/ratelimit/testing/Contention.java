package dev.ratelimit.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map.Entry;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;

/**
 * How long threads of this machine waited for a processor that others used, as the kernel
 * counts it (Linux, pressure stall information). Where it does not, there was none.
 *
 * <p>
 * Three quarters of that time are left out of a promise, so that a machine with work for
 * ten has four times as long for it, and not for ever.
 */
final class Contention {

	private static final Path FILE = Path.of("/proc/pressure/cpu");

	private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(20);

	private static final int MOST = 100_000;

	/** What the kernel had counted, in microseconds, by the time of the look. */
	private final ConcurrentSkipListMap<Long, Long> looks = new ConcurrentSkipListMap<>();

	private final boolean counted = Files.isReadable(FILE);

	private long last;

	private int taken;

	Contention() {
		look(System.nanoTime());
	}

	/** Called by one thread. */
	void look(long now) {
		if (this.counted && (this.taken == 0 || now - this.last >= INTERVAL)) {
			this.last = now;
			this.looks.put(now, total());
			if (++this.taken > MOST) {
				this.looks.pollFirstEntry();
			}
		}
	}

	Duration between(long start, long end) {
		Entry<Long, Long> first = this.looks.floorEntry(start);
		Entry<Long, Long> last = this.looks.floorEntry(end);
		if (first == null || last == null) {
			return Duration.ZERO;
		}
		long micros = Math.min(last.getValue() - first.getValue(), TimeUnit.NANOSECONDS.toMicros(end - start));
		return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros) * 3 / 4);
	}

	private static long total() {
		try {
			// some avg10=0.00 avg60=0.00 avg300=0.00 total=57634803
			String line = Files.readString(FILE).lines().findFirst().orElse("");
			return Long.parseLong(line.substring(line.lastIndexOf('=') + 1));
		}
		catch (IOException | NumberFormatException ex) {
			return 0;
		}
	}

}
