package dev.ratelimit.algorithm;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;

import dev.ratelimit.Algorithm;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How much callers can really use when costs are estimated first and settled later, at
 * random times and in any order.
 */
@PropertyDefaults(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
class SettlePropertyTests {

	@Property
	void whatWasReservedAndUsedIsAtMostTwoBurstsAndTheRate(@ForAll("plain") Scenario scenario) {
		Usage usage = new Usage(scenario);
		usage.assertWithin(usage.kept, 2 * usage.burst());
	}

	@Property
	void withSurplusItIsAtMostOneBurstOfDebtMore(@ForAll("buckets") Scenario scenario) {
		Usage usage = new Usage(scenario);
		List<Used> all = new ArrayList<>(usage.kept);
		all.addAll(usage.charged);
		usage.assertWithin(all, 3 * usage.burst());
	}

	/**
	 * The window of a settle has up to twice its permits, and two more may be touched.
	 */
	@Property
	void withSurplusEachWindowHasAtMostTwiceItsPermits(@ForAll("windows") Scenario scenario) {
		Usage usage = new Usage(scenario);
		List<Used> all = new ArrayList<>(usage.kept);
		all.addAll(usage.charged);
		usage.assertWithin(all, 4 * usage.burst(), 2);
	}

	@Property
	void debtIsPaidWithinTwoFillTimes(@ForAll("buckets") Scenario scenario) {
		Usage usage = new Usage(scenario);
		Pace pace = usage.counting.paces[0];
		assertThat(usage.counting.resetAfter(0, usage.now)).isLessThanOrEqualTo(2 * pace.fullUp());
	}

	@Property
	void chargeOfWhatWasRefundedRestoresTheState(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		long now = counting.time;
		long cost = scenario.random().nextLong(counting.available(now) + 1);
		assertThat(counting.attempt(now, cost)).isTrue();
		Observed before = Observed.of(counting, now);
		counting.giveBack(now, now, cost);
		long[] settled = counting.settled(now);
		assertThat(counting.formula.chargeable(settled, counting.paces, now, cost)).isEqualTo(cost);
		counting.state = counting.formula.charge(settled, counting.paces, now, cost);
		assertThat(Observed.of(counting, now)).isEqualTo(before);
	}

	@Provide
	Arbitrary<Scenario> plain() {
		return Scenarios.plain(Algorithm.values());
	}

	@Provide
	Arbitrary<Scenario> buckets() {
		return Scenarios.plain(Algorithm.GCRA, Algorithm.TOKEN_BUCKET);
	}

	@Provide
	Arbitrary<Scenario> windows() {
		return Scenarios.plain(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW_COUNTER, Algorithm.SLIDING_WINDOW_LOG);
	}

	@Provide
	Arbitrary<Scenario> scenarios() {
		return Scenarios.all();
	}

	private record Used(long time, long permits) {
	}

	private record Pending(long time, long estimate) {
	}

	/**
	 * Random requests and settles, and what was really used.
	 */
	private static final class Usage {

		private final Counting counting;

		/** By the time of the request: its true cost, at most its estimate. */
		private final List<Used> kept = new ArrayList<>();

		/** By the time of the settle: what was charged above the estimate. */
		private final List<Used> charged = new ArrayList<>();

		private long now;

		Usage(Scenario scenario) {
			this.counting = scenario.counting();
			SplittableRandom random = scenario.random();
			Pace pace = this.counting.paces[0];
			this.now = 1_700_000_000_000_000L + random.nextLong(pace.window);
			List<Pending> pending = new ArrayList<>();
			for (int step = 0; step < 80; step++) {
				this.now += random.nextInt(3) * random.nextLong(1 + pace.window / (1 + random.nextInt(40)));
				if (random.nextInt(2) == 0 || pending.isEmpty()) {
					long estimate = 1 + random.nextLong(1 + (pace.burst - 1) / (1 + random.nextInt(5)));
					if (this.counting.attempt(this.now, estimate)) {
						pending.add(new Pending(this.now, estimate));
					}
				}
				else {
					settle(pending.remove(random.nextInt(pending.size())), random);
				}
			}
			pending.forEach((request) -> this.kept.add(new Used(request.time, request.estimate)));
		}

		private void settle(Pending request, SplittableRandom random) {
			long actual = random.nextLong(2 * request.estimate + 1);
			if (actual <= request.estimate) {
				this.kept.add(new Used(request.time, actual));
				this.counting.giveBack(this.now, request.time, request.estimate - actual);
				return;
			}
			this.kept.add(new Used(request.time, request.estimate));
			long[] settled = this.counting.settled(this.now);
			long surplus = actual - request.estimate;
			this.charged.add(new Used(this.now,
					this.counting.formula.chargeable(settled, this.counting.paces, this.now, surplus)));
			this.counting.state = this.counting.formula.charge(settled, this.counting.paces, this.now, surplus);
		}

		long burst() {
			return this.counting.paces[0].burst;
		}

		void assertWithin(List<Used> used, long permits) {
			assertWithin(used, permits, 1);
		}

		/**
		 * Over any interval at most this many permits, and as many rates of the quota.
		 */
		void assertWithin(List<Used> used, long permits, int rates) {
			Pace pace = this.counting.paces[0];
			List<Used> inOrder = used.stream().sorted((one, other) -> Long.compare(one.time, other.time)).toList();
			for (int from = 0; from < inOrder.size(); from++) {
				long sum = 0;
				for (int to = from; to < inOrder.size(); to++) {
					sum += inOrder.get(to).permits;
					double time = inOrder.get(to).time - inOrder.get(from).time;
					assertThat((double) sum)
						.isLessThanOrEqualTo(permits + rates * pace.permits * (time / pace.window) + 0.01);
				}
			}
		}

	}

}
