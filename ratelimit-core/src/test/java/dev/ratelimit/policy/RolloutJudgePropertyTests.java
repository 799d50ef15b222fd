package dev.ratelimit.policy;

import java.util.Random;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

import dev.ratelimit.policy.RolloutJudge.Verdict;

import static org.assertj.core.api.Assertions.assertThat;

class RolloutJudgeProperties {

	@Property
	void nothingIsSaidOfFewDecisions(@ForAll @LongRange(max = 199) long few,
			@ForAll @LongRange(max = 100_000) long many) {
		assertThat(RolloutJudge.judge(new Tally(few, 0), new Tally(many, many))).isEqualTo(Verdict.TOO_FEW);
		assertThat(RolloutJudge.judge(new Tally(many, 0), new Tally(few, few))).isEqualTo(Verdict.TOO_FEW);
	}

	@Property
	void versionThatRefusesNoLargerShareStays(@ForAll @LongRange(min = 200, max = 10_000_000) long decisions,
			@ForAll @IntRange(max = 100) int percent, @ForAll @IntRange(max = 100) int less,
			@ForAll @IntRange(min = 1, max = 50) int times) {
		long refusals = decisions * percent / 100;
		Tally previous = new Tally(decisions * times, refusals * times);
		assertThat(RolloutJudge.judge(previous, new Tally(decisions, refusals * less / 100))).isEqualTo(Verdict.KEEP);
	}

	@Property
	void equalCountsNeverRollBack(@ForAll @LongRange(min = 200, max = Long.MAX_VALUE / 4) long decisions,
			@ForAll @IntRange(max = 100) int percent) {
		Tally tally = new Tally(decisions, decisions / 100 * percent);
		assertThat(RolloutJudge.judge(tally, tally)).isEqualTo(Verdict.KEEP);
	}

	@Property
	void moreRefusalsNeverMakeAVersionBetter(@ForAll @LongRange(min = 200, max = 100_000) long decisions,
			@ForAll @IntRange(max = 100) int percent, @ForAll @LongRange(max = 100_000) long refusals,
			@ForAll @LongRange(max = 1_000) long more) {
		Tally previous = new Tally(decisions, decisions * percent / 100);
		Tally next = new Tally(decisions, Math.min(decisions, refusals));
		Tally worse = new Tally(decisions, Math.min(decisions, refusals + more));
		if (RolloutJudge.judge(previous, next) == Verdict.ROLL_BACK) {
			assertThat(RolloutJudge.judge(previous, worse)).isEqualTo(Verdict.ROLL_BACK);
		}
	}

	@Property
	void fewRefusalsAreChance(@ForAll @LongRange(min = 200, max = 10_000_000) long decisions,
			@ForAll @LongRange(max = 4) long refusals) {
		assertThat(RolloutJudge.judge(new Tally(decisions * 100, 0), new Tally(decisions, refusals)))
			.isEqualTo(Verdict.KEEP);
	}

	@Property
	void verdictIsThatOfTheTextbook(@ForAll @LongRange(min = 200, max = 50_000) long oldDecisions,
			@ForAll @LongRange(min = 200, max = 50_000) long newDecisions, @ForAll @IntRange(max = 1_000) int oldMille,
			@ForAll @IntRange(min = 25, max = 1_000) int newMille) {
		Tally previous = new Tally(oldDecisions, oldDecisions * oldMille / 1_000);
		Tally next = new Tally(newDecisions, newDecisions * newMille / 1_000);
		double p1 = (double) previous.refusals() / oldDecisions;
		double p2 = (double) next.refusals() / newDecisions;
		double pooled = (double) (previous.refusals() + next.refusals()) / (oldDecisions + newDecisions);
		double z = (p2 - p1) / Math.sqrt(pooled * (1 - pooled) / oldDecisions + pooled * (1 - pooled) / newDecisions);
		if (Math.abs(z - 2) > 1e-9) {
			assertThat(RolloutJudge.judge(previous, next)).isEqualTo((z > 2) ? Verdict.ROLL_BACK : Verdict.KEEP);
		}
	}

	@Example
	void ofVersionsThatAreAlikeAboutOneInFortyIsRolledBack() {
		Random random = new Random(42);
		int rolledBack = 0;
		for (int i = 0; i < 2_000; i++) {
			Tally previous = sample(random, 2_000, 0.05);
			rolledBack += (RolloutJudge.judge(previous, sample(random, 500, 0.05)) == Verdict.ROLL_BACK) ? 1 : 0;
		}
		assertThat(rolledBack / 2_000.0).isBetween(0.01, 0.04);
	}

	@Example
	void twiceTheRefusalsAreFound() {
		assertThat(RolloutJudge.judge(new Tally(10_000, 500), new Tally(1_000, 100))).isEqualTo(Verdict.ROLL_BACK);
	}

	private static Tally sample(Random random, int decisions, double rate) {
		return new Tally(decisions, random.doubles(decisions).filter((value) -> value < rate).count());
	}

}
