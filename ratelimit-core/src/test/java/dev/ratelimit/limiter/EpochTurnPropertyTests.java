package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a limit admits from before a turn of the epoch until after both counters were
 * charged, by instances whose clocks are up to a minute apart, in virtual time.
 */
class EpochTurnPropertyTests {

	private static final int PERMITS = 20;

	private static final Duration WINDOW = Duration.ofMinutes(1);

	private static final Duration ROTATE = Duration.ofHours(1);

	private static final Request CALLER = Request.of("orders").with(Dimension.IP, "198.51.100.7");

	@Property(tries = 100)
	void noWindowOfALogHasMoreThanItsPermits(@ForAll long seed,
			@ForAll @IntRange(min = 10, max = 400) int demandPercent) {
		List<Long> admitted = new World(Algorithm.SLIDING_WINDOW_LOG).run(new Random(seed), demandPercent);
		for (int i = 0; i + PERMITS < admitted.size(); i++) {
			assertThat(admitted.get(i + PERMITS) - admitted.get(i)).isGreaterThanOrEqualTo(WINDOW.toMillis());
		}
	}

	@Property(tries = 100)
	void bucketsKeepTheirBoundOverTwoWindowsAndGiveOneBurstMoreOverLongerOnes(@ForAll long seed, @ForAll boolean tokens,
			@ForAll @IntRange(min = 10, max = 400) int demandPercent) {
		List<Long> admitted = new World(tokens ? Algorithm.TOKEN_BUCKET : Algorithm.GCRA).run(new Random(seed),
				demandPercent);
		for (int from = 0; from < admitted.size(); from++) {
			for (int to = from; to < admitted.size(); to++) {
				double windows = (double) (admitted.get(to) - admitted.get(from)) / WINDOW.toMillis();
				double bursts = (windows <= 2) ? 1 : 2;
				assertThat((double) (to - from + 1)).isLessThanOrEqualTo(PERMITS * (bursts + windows) + 1e-6);
			}
		}
	}

	@Property(tries = 50)
	void callerWithinItsLimitIsNeverRefused(@ForAll long seed, @ForAll Algorithm algorithm) {
		World world = new World(algorithm);
		world.run(new Random(seed), 40);
		assertThat(world.refused).isZero();
	}

	/**
	 * Three instances before the same counters.
	 */
	private static final class World {

		private static final long TURN = 480_000 * ROTATE.toMillis();

		private final AtomicLong millis = new AtomicLong(TURN - 5 * WINDOW.toMillis());

		private final MemoryCounters redis = new MemoryCounters(1_000, () -> this.millis.get() * 1_000,
				() -> this.millis.get() * 1_000_000);

		private final PolicySet policies;

		private int refused;

		World(Algorithm algorithm) {
			this.policies = PolicySet.of(Policy.builder("orders")
				.algorithm(algorithm)
				.limit("per-ip", List.of(Dimension.IP), PERMITS + "/m")
				.build());
		}

		List<Long> run(Random random, int demandPercent) {
			List<PolicyRateLimiter> fleet = List.of(limiter(0), limiter(30_000 - random.nextInt(30_000)),
					limiter(random.nextInt(30_000) - 30_000));
			List<Long> admitted = new ArrayList<>();
			double due = 0;
			while (this.millis.get() < TURN + 10 * WINDOW.toMillis()) {
				this.millis.addAndGet(100);
				due += demandPercent / 100.0 * PERMITS * 100 / WINDOW.toMillis();
				for (; due >= 1; due--) {
					if (allows(fleet.get(random.nextInt(fleet.size())))) {
						admitted.add(this.millis.get());
					}
					else {
						this.refused++;
					}
				}
			}
			return admitted;
		}

		private static boolean allows(PolicyRateLimiter limiter) {
			return limiter.check(CALLER).toCompletableFuture().join().allowed();
		}

		private PolicyRateLimiter limiter(long ahead) {
			CounterKeys keys = new CounterKeys("rl", Set.of(Dimension.IP),
					new Epochs(Salt.of("salt of the tests"), ROTATE, () -> this.millis.get() + ahead));
			return RateLimiterBuilder.on(this.redis)
				.policies(() -> this.policies)
				.keys(keys)
				.fallback(Fallback.to(this.redis))
				.options(new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64))
				.build();
		}

	}

}
