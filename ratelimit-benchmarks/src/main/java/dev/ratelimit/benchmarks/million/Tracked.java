package dev.ratelimit.benchmarks.million;

import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.benchmarks.lab.Verdict;
import dev.ratelimit.benchmarks.load.Callers;
import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.RampedLoad;
import dev.ratelimit.benchmarks.peers.Ours;

/**
 * Some callers with leased limits of their own, each sending at one and a half times its
 * limit during the whole run: what they were admitted more than the bound is the overage.
 * Degraded decisions do not count.
 */
final class Tracked {

	private static final int CALLERS = 10;

	private static final int PERMITS = 100;

	private static final double OVER = 1.5;

	/** A lease may be spent for so long after it was granted. */
	private static final double EXPIRY_SECONDS = 1;

	private static final String NAME = "tracked";

	private final AtomicLongArray admitted = new AtomicLongArray(CALLERS);

	private final Ours limiter;

	private final List<Request> requests = IntStream.range(0, CALLERS)
		.mapToObj((i) -> Request.of(NAME).with(Dimension.USER, NAME + "-" + i))
		.toList();

	Tracked(Ours limiter) {
		this.limiter = limiter;
	}

	static Policy policy() {
		return Policy.builder(NAME)
			.enforcement(Enforcement.LEASED)
			.limit("per-user", List.of(Dimension.USER), PERMITS + "/s")
			.build();
	}

	/** Sends on a thread of its own for this many seconds. */
	Thread start(int seconds) {
		Contender contender = new Contender() {

			@Override
			public void check(int key, Answer answer) {
				Tracked.this.limiter.check(Tracked.this.requests.get(key), (outcome) -> {
					if (outcome == Outcome.ALLOWED) {
						Tracked.this.admitted.incrementAndGet(key);
					}
					answer.complete(outcome);
				});
			}

			@Override
			public void close() {
			}

		};
		RampedLoad load = new RampedLoad(contender, Callers.inTurn(CALLERS), 1,
				RampedLoad.Rate.of(CALLERS * PERMITS * OVER));
		Thread thread = new Thread(() -> {
			try {
				load.run(seconds, (start) -> {
				});
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}, NAME);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	/** Against burst + rate × (T + expiry); the run takes at most a second longer. */
	Verdict verdict(int seconds) {
		long bound = (long) (PERMITS + PERMITS * (seconds + 1 + EXPIRY_SECONDS));
		long most = IntStream.range(0, CALLERS).mapToLong(this.admitted::get).max().orElseThrow();
		return Verdict.bound("admitted to a caller at 1.5 times its limit ≤ burst + rate × (T + lease expiry)",
				most <= bound, String.format("%,d of at most %,d", most, bound));
	}

}
