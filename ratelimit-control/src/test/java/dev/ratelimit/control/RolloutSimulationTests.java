package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Rollout;
import dev.ratelimit.policy.BucketTally;
import dev.ratelimit.policy.Tally;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How often rollouts are rolled back, by simulating many of them and judging each second
 * of each stage as the leader does. Refusals come in bursts of one caller, and callers
 * differ in size. The lines that this prints are the table of
 * {@code docs/control-plane.md}.
 */
class RolloutSimulationTests {

	private static final int ROLLOUTS = 10_000;

	private static final int CALLERS = 200;

	private static final int DECISIONS = 20_000;

	private static final int BUCKETS = 64;

	private static final int SECONDS = 30;

	private static final List<Integer> STAGES = List.of(1, 10, 100);

	private static final Tally NONE = new Tally(0, 0);

	private static final Instant START = Instant.parse("2026-01-01T12:00:00Z");

	@Test
	void burstsThatEitherVersionRefusesByChanceRollFewVersionsBack() {
		assertThat(rolledBack("each burst is refused by one version, by chance",
				(fleet) -> fleet.bursts(0, 40, 1_000, (caller) -> fleet.random.nextBoolean())))
			.isLessThan(0.05);
	}

	@Test
	void callersThatOneVersionAlwaysRefusesMoreRollFewVersionsBack() {
		assertThat(rolledBack("each caller is refused more by one version, by chance",
				(fleet) -> fleet.bursts(0, 40, 1_000, fleet::isWorseOff)))
			.isLessThan(0.05);
	}

	/** Many callers are refused a little more, and few much less. */
	@Test
	void changeThatIsUnevenButRefusesEquallyOftenRollsFewVersionsBack() {
		assertThat(rolledBack("many callers lose little, few gain much, equal on average", (fleet) -> {
			for (int i = 0; i < 200; i++) {
				boolean loss = fleet.random.nextBoolean();
				fleet.burstsOf(loss ? 0 : 40, loss ? 40 : 52, 5, loss);
			}
		})).isLessThan(0.05);
	}

	@Test
	void doubledRefusalsOfTwentyCallersAreFound() {
		assertThat(found("1 % refusals, equally by 20 of 200 callers, are doubled",
				(fleet) -> fleet.burstsOf(0, 20, DECISIONS / 100, true)))
			.isGreaterThanOrEqualTo(0.95);
	}

	@Test
	void doubledRefusalsOfTwentyCallersOfDifferentSizeAreFound() {
		assertThat(found("1 % refusals, by size of 20 of 200 callers, are doubled",
				(fleet) -> fleet.burstsBySize(20, DECISIONS / 100)))
			.isGreaterThanOrEqualTo(0.95);
	}

	private static double found(String what, Consumer<Fleet> stage) {
		int found = 0;
		SplittableRandom random = new SplittableRandom(7);
		for (int i = 0; i < ROLLOUTS / 5; i++) {
			Fleet fleet = new Fleet(random.split());
			stage.accept(fleet);
			found += isRolledBack(fleet, 1) ? 1 : 0;
		}
		print(what, ROLLOUTS / 5, found);
		return found / (ROLLOUTS / 5.0);
	}

	private static double rolledBack(String what, Consumer<Fleet> scenario) {
		int rolledBack = 0;
		SplittableRandom random = new SplittableRandom(42);
		for (int i = 0; i < ROLLOUTS; i++) {
			Fleet fleet = new Fleet(random.split());
			boolean back = false;
			for (int stage = 0; stage + 1 < STAGES.size() && !back; stage++) {
				fleet.forget();
				scenario.accept(fleet);
				back = isRolledBack(fleet, STAGES.get(stage));
			}
			rolledBack += back ? 1 : 0;
		}
		print(what, ROLLOUTS, rolledBack);
		return rolledBack / (double) ROLLOUTS;
	}

	private static void print(String what, int rollouts, int rolledBack) {
		System.out.printf(Locale.ROOT, "| %s | %,d | %.1f %% |%n", what, rollouts, 100.0 * rolledBack / rollouts);
	}

	private static boolean isRolledBack(Fleet fleet, int percent) {
		Rollout rollout = new Rollout(percent, null, STAGES, Duration.ofSeconds(SECONDS));
		long[] onlyNew = new long[BUCKETS];
		long[] onlyOld = new long[BUCKETS];
		for (int second = 1; second <= SECONDS; second++) {
			List<BucketTally> buckets = new ArrayList<>(BUCKETS);
			for (int bucket = 0; bucket < BUCKETS; bucket++) {
				onlyNew[bucket] += fleet.onlyNew[second - 1][bucket];
				onlyOld[bucket] += fleet.onlyOld[second - 1][bucket];
				long decisions = Math.max(fleet.decisions[bucket] * second / SECONDS,
						onlyNew[bucket] + onlyOld[bucket]);
				buckets.add(new BucketTally(decisions, onlyNew[bucket], onlyOld[bucket]));
			}
			RolloutStep step = RolloutStep.of(rollout, START, new RolloutCounts(NONE, NONE, 0, 0, 0, 0, buckets, true),
					START.plusSeconds(second));
			if (step.kind() == RolloutStep.Kind.ROLL_BACK) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The sampled callers of a policy: in which bucket each is, how much it sends, and
	 * what only one version refused in each second of a stage.
	 */
	private static final class Fleet {

		private final SplittableRandom random;

		private final int[] bucketOf = new int[CALLERS];

		private final boolean[] worseOff = new boolean[CALLERS];

		private final long[] left = new long[CALLERS];

		private final long[] sent = new long[CALLERS];

		private final long[] decisions = new long[BUCKETS];

		private final int[][] onlyNew = new int[SECONDS][BUCKETS];

		private final int[][] onlyOld = new int[SECONDS][BUCKETS];

		Fleet(SplittableRandom random) {
			this.random = random;
			double[] sizes = new double[CALLERS];
			double sum = 0;
			for (int i = 0; i < CALLERS; i++) {
				// The largest of 200 sends some 5 % of everything.
				sizes[i] = Math.exp(random.nextGaussian());
				sum += sizes[i];
				this.bucketOf[i] = random.nextInt(BUCKETS);
				this.worseOff[i] = random.nextBoolean();
			}
			for (int i = 0; i < CALLERS; i++) {
				this.sent[i] = Math.max(1, Math.round(DECISIONS * sizes[i] / sum));
				this.left[i] = this.sent[i];
				this.decisions[this.bucketOf[i]] += this.sent[i];
			}
		}

		/** Whether the new version refuses this caller more, in all stages. */
		boolean isWorseOff(int caller) {
			return this.worseOff[caller];
		}

		void forget() {
			for (int second = 0; second < SECONDS; second++) {
				Arrays.fill(this.onlyNew[second], 0);
				Arrays.fill(this.onlyOld[second], 0);
			}
			System.arraycopy(this.sent, 0, this.left, 0, CALLERS);
		}

		void burstsOf(int from, int to, int refusals, boolean onlyNew) {
			bursts(from, to, refusals, (caller) -> onlyNew);
		}

		/** The same for callers that are refused as they send. */
		void burstsBySize(int callers, int refusals) {
			long sum = LongStream.of(this.sent).limit(callers).sum();
			for (int caller = 0; caller < callers; caller++) {
				burstsOf(caller, caller + 1, (int) Math.round((double) refusals * this.sent[caller] / sum), true);
			}
		}

		/** Bursts of 1 to 9 refusals of one caller in one second, 5 on average. */
		void bursts(int from, int to, int refusals, IntPredicate onlyNew) {
			int rest = refusals;
			for (int tries = 0; rest > 0 && tries < 10 * refusals; tries++) {
				int caller = this.random.nextInt(from, to);
				int burst = (int) Math.min(Math.min(rest, this.random.nextInt(1, 10)), this.left[caller]);
				int[][] side = onlyNew.test(caller) ? this.onlyNew : this.onlyOld;
				side[this.random.nextInt(SECONDS)][this.bucketOf[caller]] += burst;
				this.left[caller] -= burst;
				rest -= burst;
			}
		}

	}

}
