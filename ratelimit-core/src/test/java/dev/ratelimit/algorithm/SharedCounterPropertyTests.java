package dev.ratelimit.algorithm;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers with different quotas on one counter: each is decided by its own.
 */
class SharedCounterPropertyTests {

	private static final long START = 1_700_000_000_000_000L;

	@Property(tries = 2_000)
	void everyCallerGetsWhatTheModelGivesIt(@ForAll Algorithm algorithm, @ForAll("callers") List<List<Quota>> any,
			@ForAll long seed) {
		List<List<Quota>> callers = fitting(any, algorithm);
		Callers counted = new Callers(algorithm, callers);
		ReferenceModel model = new ReferenceModel(callers, algorithm);
		SplittableRandom random = new SplittableRandom(seed);
		long now = START;
		for (int i = 0; i < 60; i++) {
			int caller = random.nextInt(callers.size());
			now += advance(random);
			long cost = cost(random, callers.get(caller));
			assertThat(counted.attempt(caller, now, cost)).as("request %d of caller %d", i, caller)
				.isEqualTo(model.attempt(caller, now, cost));
		}
	}

	/**
	 * Where permits do not divide their window, callers read each other's rest of a
	 * microsecond to within a part of their own.
	 */
	@Property(tries = 1_000)
	void togetherTheyTakeNoMoreTimeThanThereIs(@ForAll("uneven") List<Quota> quotas, @ForAll long seed) {
		List<List<Quota>> callers = quotas.stream().map(List::of).toList();
		Callers counted = new Callers(Algorithm.GCRA, callers);
		SplittableRandom random = new SplittableRandom(seed);
		long now = START;
		double charged = 0;
		for (int i = 0; i < 300; i++) {
			int caller = random.nextInt(callers.size());
			Quota quota = quotas.get(caller);
			now += random.nextLong(ReferenceModel.micros(quota) * 2 / quota.permits() + 2);
			long cost = random.nextLong(1, Math.min(3, quota.burst()) + 1);
			if (counted.attempt(caller, now, cost)) {
				charged += (double) cost * ReferenceModel.micros(quota) / quota.permits();
			}
			double slowest = quotas.stream()
				.mapToDouble((own) -> (double) own.burst() * ReferenceModel.micros(own) / own.permits())
				.max()
				.orElseThrow();
			assertThat(charged).isLessThanOrEqualTo(now - START + slowest + i + 1);
		}
	}

	@Provide
	Arbitrary<List<List<Quota>>> callers() {
		return quota(Arbitraries.of(1L, 2L, 5L, 10L, 40L, 100L, 500L)).list()
			.ofMinSize(1)
			.ofMaxSize(3)
			.uniqueElements(Quota::window)
			.list()
			.ofMinSize(2)
			.ofMaxSize(3);
	}

	@Provide
	Arbitrary<List<Quota>> uneven() {
		return Combinators.combine(Arbitraries.longs().between(1, 1_000_000), Arbitraries.longs().between(1, 1_000))
			.as((permits, burst) -> new Quota(permits, Duration.ofSeconds(1), burst))
			.list()
			.ofMinSize(2)
			.ofMaxSize(3);
	}

	private static Arbitrary<Quota> quota(Arbitrary<Long> permits) {
		return Combinators.combine(permits, Arbitraries.of(1L, 10L, 60L, 3_600L), Arbitraries.of(1L, 3L, 10L, 100L))
			.as((size, window, burst) -> new Quota(size, Duration.ofSeconds(window), burst));
	}

	private static List<List<Quota>> fitting(List<List<Quota>> callers, Algorithm algorithm) {
		return algorithm.hasBurst() ? callers
				: callers.stream()
					.map((quotas) -> quotas.stream().map((quota) -> Quota.of(quota.permits(), quota.window())).toList())
					.toList();
	}

	private static long advance(SplittableRandom random) {
		return switch (random.nextInt(6)) {
			case 0, 1 -> 0;
			case 2 -> random.nextLong(5_000);
			case 3 -> random.nextLong(200_000);
			case 4 -> random.nextLong(3_000_000);
			default -> (random.nextInt(4) == 0) ? random.nextLong(90_000_000) : 0;
		};
	}

	private static long cost(SplittableRandom random, List<Quota> quotas) {
		long largest = quotas.stream().mapToLong(Quota::burst).min().orElseThrow();
		return switch (random.nextInt(4)) {
			case 0 -> random.nextLong(1, largest + 1);
			case 1 -> largest;
			default -> 1;
		};
	}

	/**
	 * One counter, as each of its callers is counted on it.
	 */
	private static final class Callers {

		private final Formula formula;

		private final List<Pace[]> paces;

		private long[] state = Formula.UNUSED;

		Callers(Algorithm algorithm, List<List<Quota>> callers) {
			this.formula = Formula.of(algorithm);
			LiveWindows live = new LiveWindows();
			live.set(callers.stream().flatMap(List::stream).map(LiveWindow::of).toList());
			this.paces = callers.stream().map((quotas) -> Pace.of(quotas, live.current())).toList();
		}

		boolean attempt(int caller, long now, long cost) {
			Pace[] own = this.paces.get(caller);
			long[] settled = this.formula.settle(this.state, own, now);
			assertThat(this.formula.outruns(this.state, own, now)).isFalse();
			boolean fits = this.formula.available(settled, own, now) >= cost;
			if (fits) {
				this.state = this.formula.take(settled, own, now, cost);
			}
			return fits;
		}

	}

}
