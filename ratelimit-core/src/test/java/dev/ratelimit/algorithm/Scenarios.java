package dev.ratelimit.algorithm;

import java.time.Duration;
import java.util.List;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;

/**
 * Random limits within the bounds of {@link Quota}, with a bias to few permits and to
 * permits that do not divide their window.
 */
final class Scenarios {

	/** A little less than 50 years: the longest that a burst may take to refill. */
	private static final long LONGEST_FILL_SECONDS = 1_576_000_000L;

	private Scenarios() {
	}

	static Arbitrary<Scenario> all() {
		return of(Algorithm.values());
	}

	/**
	 * Scenarios of one to three quotas.
	 */
	static Arbitrary<Scenario> of(Algorithm... algorithms) {
		return Arbitraries.of(algorithms).flatMap((algorithm) -> scenario(algorithm, quotas(algorithm)));
	}

	/**
	 * Scenarios of one quota whose burst equals its permits.
	 */
	static Arbitrary<Scenario> plain(Algorithm... algorithms) {
		return Arbitraries.of(algorithms)
			.flatMap((algorithm) -> scenario(algorithm,
					quota(mostPermits(algorithm)).map((quota) -> List.of(Quota.of(quota.permits(), quota.window())))));
	}

	private static Arbitrary<Scenario> scenario(Algorithm algorithm, Arbitrary<List<Quota>> quotas) {
		Arbitrary<Long> starts = Arbitraries.longs()
			.between(1_600_000_000_000_000L, 1_900_000_000_000_000L)
			.withDistribution(RandomDistribution.uniform())
			.dontShrink();
		Arbitrary<Long> seeds = Arbitraries.longs().withDistribution(RandomDistribution.uniform()).dontShrink();
		Arbitrary<Integer> lengths = Arbitraries.integers()
			.between(1, 80)
			.withDistribution(RandomDistribution.uniform());
		return Combinators.combine(quotas, starts, seeds, lengths)
			.as((all, start, seed, length) -> new Scenario(algorithm, all, start, seed, length));
	}

	/**
	 * Quotas whose windows have tags of their own.
	 */
	static Arbitrary<List<Quota>> quotas(Algorithm algorithm) {
		Arbitrary<Quota> quota = quota(mostPermits(algorithm));
		if (!algorithm.hasBurst()) {
			quota = quota.map((any) -> Quota.of(any.permits(), any.window()));
		}
		return quota.list().ofMinSize(1).ofMaxSize(3).uniqueElements((any) -> new Pace(any).tag);
	}

	static Arbitrary<Quota> quota() {
		return quota(Quota.MAX_PERMITS);
	}

	private static Arbitrary<Quota> quota(long mostPermits) {
		return Combinators
			.combine(permits(mostPermits), windows(), permits(Quota.MAX_PERMITS), Arbitraries.integers().between(0, 2))
			.as((permits, seconds, any, kind) -> {
				long burst = switch (kind) {
					case 0 -> permits;
					case 1 -> any % permits + 1;
					default -> Math.min(any, LONGEST_FILL_SECONDS * permits / seconds);
				};
				return new Quota(permits, Duration.ofSeconds(seconds), burst);
			});
	}

	static Arbitrary<Long> permits(long most) {
		return Arbitraries
			.frequencyOf(Tuple.of(4, Arbitraries.longs().between(1, 20)),
					Tuple.of(3,
							Arbitraries.of(3L, 7L, 100L, 999_983L, 1_000_000L, 3_000_000L, 89_999_999L, 90_000_000L)),
					Tuple.of(3, Arbitraries.longs().between(1, 10_000)),
					Tuple.of(2,
							Arbitraries.longs()
								.between(1, Quota.MAX_PERMITS)
								.withDistribution(RandomDistribution.uniform())))
			.map((permits) -> (permits - 1) % most + 1);
	}

	static Arbitrary<Long> windows() {
		long longest = Quota.MAX_WINDOW.toSeconds();
		return Arbitraries.frequencyOf(Tuple.of(4, Arbitraries.longs().between(1, 60)),
				Tuple.of(4, Arbitraries.of(1L, 7L, 10L, 60L, 90L, 100L, 3_600L, 86_400L, 604_800L, longest)),
				Tuple.of(2, Arbitraries.longs().between(1, longest).withDistribution(RandomDistribution.uniform())));
	}

	private static long mostPermits(Algorithm algorithm) {
		return (algorithm == Algorithm.SLIDING_WINDOW_LOG) ? Policy.MAX_LOG_PERMITS : Quota.MAX_PERMITS;
	}

}
