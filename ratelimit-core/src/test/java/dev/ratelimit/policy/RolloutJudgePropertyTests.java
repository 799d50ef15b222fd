package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

import dev.ratelimit.policy.RolloutJudge.Verdict;

import static org.assertj.core.api.Assertions.assertThat;

class RolloutJudgePropertyTests {

	private static final BucketTally EMPTY = new BucketTally(0, 0, 0);

	@Property
	void nothingIsSaidOfFewerThanSixteenBuckets(@ForAll @IntRange(max = 15) int filled,
			@ForAll @LongRange(min = 1, max = 1_000_000) long decisions) {
		assertThat(judge(buckets(filled, new BucketTally(decisions, decisions, 0)))).isEqualTo(Verdict.TOO_FEW);
		assertThat(RolloutJudge.isEnough(buckets(filled, new BucketTally(decisions, 0, 0)))).isFalse();
	}

	@Property
	void versionThatRefusesTheSameRequestsStays(@ForAll @IntRange(min = 16, max = 64) int filled,
			@ForAll @LongRange(min = 1, max = Long.MAX_VALUE / 64) long decisions) {
		assertThat(judge(buckets(filled, new BucketTally(decisions, 0, 0)))).isEqualTo(Verdict.KEEP);
	}

	@Property
	void versionThatRefusesLessStays(@ForAll @Size(64) List<@IntRange(max = 100) Integer> onlyOld,
			@ForAll @Size(64) List<@IntRange(max = 100) Integer> less) {
		List<BucketTally> buckets = IntStream.range(0, 64)
			.mapToObj((i) -> new BucketTally(200, Math.min(onlyOld.get(i), less.get(i)), onlyOld.get(i)))
			.toList();
		assertThat(judge(buckets)).isEqualTo(Verdict.KEEP);
	}

	@Property
	void oneCallerAloneNeverRollsAVersionBack(@ForAll @IntRange(min = 16, max = 64) int filled,
			@ForAll @LongRange(min = 1, max = 1_000_000) long refusals) {
		List<BucketTally> buckets = new ArrayList<>(buckets(filled, new BucketTally(10, 0, 0)));
		buckets.set(0, new BucketTally(refusals, refusals, 0));
		assertThat(RolloutJudge.judge(buckets, 1.000_001, 0)).isEqualTo(Verdict.KEEP);
	}

	@Property
	void everyCallerRefusedMoreRollsAVersionBack(@ForAll @IntRange(min = 16, max = 64) int filled,
			@ForAll @LongRange(min = 1, max = 10_000) long decisions) {
		assertThat(judge(buckets(filled, new BucketTally(decisions, decisions, 0)))).isEqualTo(Verdict.ROLL_BACK);
	}

	@Property
	void orderOfTheBucketsDoesNotMatter(@ForAll @Size(64) List<@IntRange(max = 20) Integer> onlyNew) {
		List<BucketTally> buckets = new ArrayList<>(
				onlyNew.stream().map((refused) -> new BucketTally(100, refused, 5)).toList());
		Verdict verdict = judge(buckets);
		Collections.reverse(buckets);
		assertThat(judge(buckets)).isEqualTo(verdict);
	}

	@Property
	void verdictIsThatOfTheTextbook(@ForAll @Size(64) List<@IntRange(max = 20) Integer> onlyNew,
			@ForAll @Size(64) List<@IntRange(max = 20) Integer> onlyOld, @ForAll @IntRange(max = 5) int expected) {
		List<BucketTally> buckets = IntStream.range(0, 64)
			.mapToObj((i) -> new BucketTally(100 + i, onlyNew.get(i), onlyOld.get(i)))
			.toList();
		double[] excesses = IntStream.range(0, 64)
			.mapToDouble((i) -> (onlyNew.get(i) - onlyOld.get(i) - expected / 100.0 * (100 + i)) / Math.sqrt(100 + i))
			.toArray();
		double mean = Arrays.stream(excesses).average().orElseThrow();
		double squares = Arrays.stream(excesses).map((excess) -> Math.pow(excess - mean, 2)).sum();
		double error = Math.sqrt(squares / 63) / 8;
		double all = RolloutJudge.difference(buckets) - expected / 100.0;
		if (Math.abs(mean - 2.3 * error) > 1e-9 && Math.abs(all - 0.005) > 1e-9) {
			assertThat(RolloutJudge.judge(buckets, 2.3, expected / 100.0))
				.isEqualTo((mean > 2.3 * error && all > 0.005) ? Verdict.ROLL_BACK : Verdict.KEEP);
		}
	}

	@Example
	void lessThanHalfAPercentagePointDoesNotMatter() {
		assertThat(judge(buckets(64, new BucketTally(1_000, 4, 0)))).isEqualTo(Verdict.KEEP);
		assertThat(judge(buckets(64, new BucketTally(1_000, 5, 0)))).isEqualTo(Verdict.ROLL_BACK);
	}

	@Example
	void expectedRefusalsAreAddedToTheHalf() {
		assertThat(RolloutJudge.judge(buckets(64, new BucketTally(1_000, 54, 0)), 2.3, 0.05)).isEqualTo(Verdict.KEEP);
		assertThat(RolloutJudge.judge(buckets(64, new BucketTally(1_000, 56, 0)), 2.3, 0.05))
			.isEqualTo(Verdict.ROLL_BACK);
	}

	@Example
	void chanceAroundTheExpectedRefusalsIsNoReason() {
		List<BucketTally> buckets = IntStream.range(0, 64)
			.mapToObj((i) -> new BucketTally(100, (i % 4 == 0) ? 23 : 0, 0))
			.toList();
		assertThat(judge(buckets)).isEqualTo(Verdict.ROLL_BACK);
		assertThat(RolloutJudge.judge(buckets, 2.3, 0.05)).isEqualTo(Verdict.KEEP);
	}

	private static List<BucketTally> buckets(int filled, BucketTally each) {
		return IntStream.range(0, 64).mapToObj((i) -> (i < filled) ? each : EMPTY).toList();
	}

	private static Verdict judge(List<BucketTally> buckets) {
		return RolloutJudge.judge(buckets, RolloutJudge.SIGMAS, 0);
	}

}
