package dev.ratelimit.algorithm;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.ratelimit.Quota;

/**
 * What was let through, in the order of time, and how much of it falls together.
 */
final class Admissions {

	private final List<Scenario.Attempt> admitted = new ArrayList<>();

	static Admissions of(Scenario scenario) {
		Admissions admissions = new Admissions();
		Counting counting = scenario.counting();
		scenario.attempts().forEach((attempt) -> admissions.attempt(counting, attempt.time(), attempt.cost()));
		return admissions;
	}

	boolean attempt(Counting counting, long now, long cost) {
		return attempt(counting, now, cost, now);
	}

	/**
	 * An attempt on a clock that is wrong.
	 */
	boolean attempt(Counting counting, long now, long cost, long trueTime) {
		boolean fits = counting.attempt(now, cost);
		if (fits) {
			this.admitted.add(new Scenario.Attempt(trueTime, cost));
		}
		return fits;
	}

	/**
	 * The most permits in any window, wherever it begins.
	 */
	long mostInAnyWindow(Quota quota) {
		long window = quota.window().toSeconds() * 1_000_000;
		long most = 0;
		long sum = 0;
		int oldest = 0;
		for (Scenario.Attempt last : this.admitted) {
			sum += last.cost();
			while (this.admitted.get(oldest).time() <= last.time() - window) {
				sum -= this.admitted.get(oldest++).cost();
			}
			most = Math.max(most, sum);
		}
		return most;
	}

	/**
	 * The most permits in any window that begins at a multiple of its length.
	 */
	long mostInAnAlignedWindow(Quota quota) {
		long window = quota.window().toSeconds() * 1_000_000;
		Map<Long, Long> counts = this.admitted.stream()
			.collect(Collectors.groupingBy((event) -> event.time() / window,
					Collectors.summingLong(Scenario.Attempt::cost)));
		return counts.values().stream().mapToLong(Long::longValue).max().orElse(0);
	}

	/**
	 * Whether from each admission to each later one, both included, no more came through
	 * than the burst and what the time between them is worth. Exact: both sides are
	 * multiplied by the window.
	 */
	boolean withinBurstPlusRateTimesTime(Quota quota) {
		BigInteger window = BigInteger.valueOf(quota.window().toSeconds() * 1_000_000);
		BigInteger rate = BigInteger.valueOf(quota.permits());
		BigInteger burst = window.multiply(BigInteger.valueOf(quota.burst()));
		BigInteger sum = BigInteger.ZERO;
		BigInteger lowest = null;
		for (Scenario.Attempt event : this.admitted) {
			BigInteger earned = rate.multiply(BigInteger.valueOf(event.time()));
			BigInteger before = sum.multiply(window).subtract(earned);
			lowest = (lowest != null) ? lowest.min(before) : before;
			sum = sum.add(BigInteger.valueOf(event.cost()));
			if (sum.multiply(window).subtract(earned).subtract(lowest).compareTo(burst) > 0) {
				return false;
			}
		}
		return true;
	}

}
