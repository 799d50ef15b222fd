package dev.ratelimit.testing;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * How long things took.
 */
public final class Times {

	private final List<Duration> sorted;

	private Times(List<Duration> sorted) {
		this.sorted = sorted;
	}

	public static Times of(Collection<Duration> times) {
		return new Times(times.stream().sorted().toList());
	}

	public Duration p99() {
		return this.sorted.get(this.sorted.size() * 99 / 100);
	}

	public Duration most() {
		return this.sorted.get(this.sorted.size() - 1);
	}

	@Override
	public String toString() {
		return "median %d ms, p99 %d ms, most %d ms".formatted(this.sorted.get(this.sorted.size() / 2).toMillis(),
				p99().toMillis(), most().toMillis());
	}

}
