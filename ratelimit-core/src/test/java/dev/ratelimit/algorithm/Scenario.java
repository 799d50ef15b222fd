package dev.ratelimit.algorithm;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

/**
 * A random limit and random attempts on one counter of it. The attempts follow from the
 * seed, so that a failure shrinks to fewer of them.
 *
 * @param algorithm how it counts
 * @param quotas one to three, of different windows
 * @param start when the first attempt can come, microseconds since 1970
 * @param seed what the attempts follow from
 * @param length how many there are
 */
record Scenario(Algorithm algorithm, List<Quota> quotas, long start, long seed, int length) {

	/** The year 2096: the latest time that a test goes to. */
	private static final long LATEST = 4_000_000_000_000_000L;

	/**
	 * One request.
	 *
	 * @param time when it comes, never before the one in front of it
	 * @param cost what it costs, sometimes nothing and sometimes more than can ever fit
	 */
	record Attempt(long time, long cost) {
	}

	Counting counting() {
		return new Counting(this.algorithm, this.quotas);
	}

	SplittableRandom random() {
		return new SplittableRandom(this.seed + 1);
	}

	long largestCost() {
		return this.quotas.stream().mapToLong(Quota::burst).min().orElseThrow();
	}

	/**
	 * Attempts in the order of time, many of them at moments and with costs that just fit
	 * or just do not.
	 */
	List<Attempt> attempts() {
		List<Attempt> attempts = new ArrayList<>(this.length);
		drive(attempts);
		return attempts;
	}

	/**
	 * A counter on which all attempts were made.
	 */
	Counting used() {
		return drive(new ArrayList<>(this.length));
	}

	private Counting drive(List<Attempt> attempts) {
		SplittableRandom random = new SplittableRandom(this.seed);
		Counting counting = counting();
		long now = this.start;
		for (int i = 0; i < this.length; i++) {
			long later = now + Math.max(0, advance(random, counting, now));
			now = (later <= LATEST) ? later : now;
			long cost = cost(random, counting, now);
			counting.attempt(now, cost);
			attempts.add(new Attempt(now, cost));
		}
		return counting;
	}

	private long advance(SplittableRandom random, Counting counting, long now) {
		int quota = random.nextInt(counting.paces.length);
		long permits = this.quotas.get(quota).permits();
		long burst = this.quotas.get(quota).burst();
		long window = this.quotas.get(quota).window().toSeconds() * 1_000_000;
		long interval = Math.max(1, window / permits);
		return switch (random.nextInt(10)) {
			case 0, 1 -> 0;
			case 2 -> random.nextLong(1, 4);
			case 3 -> interval * random.nextLong(1, 6) + random.nextLong(-1, 2);
			case 4 -> random.nextLong(10 * interval + 1);
			case 5 -> random.nextLong(window + 1);
			case 6 -> window - now % window + random.nextLong(-1, 2);
			case 7 -> counting.waitFor(quota, now, random.nextLong(1, burst + 1)) - random.nextLong(2);
			case 8 -> random.nextLong(interval * burst + 1);
			default -> (random.nextInt(4) == 0) ? random.nextLong(3 * Math.max(window, interval * burst)) : 0;
		};
	}

	private long cost(SplittableRandom random, Counting counting, long now) {
		long largest = largestCost();
		return switch (random.nextInt(10)) {
			case 0, 1, 2 -> 1;
			case 3 -> random.nextLong(4);
			case 4 -> random.nextLong(1, largest / 10 + 2);
			case 5 -> random.nextLong(1, largest + 1);
			case 6 -> largest + random.nextLong(2);
			case 7 -> counting.available(now) / 2 + 1;
			case 8 -> counting.available(now);
			default -> counting.available(now) + 1;
		};
	}

}
