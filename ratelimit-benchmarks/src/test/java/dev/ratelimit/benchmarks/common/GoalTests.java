package dev.ratelimit.benchmarks.common;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class GoalTests {

	@Test
	void lessIsBetterUnderAnUpperBound() {
		Goal goal = Goal.atMost("cost", 0.3, 0.2);
		assertThat(goal.verdict(0.2)).isEqualTo("aim");
		assertThat(goal.verdict(0.3)).isEqualTo("ok");
		assertThat(goal.verdict(0.31)).isEqualTo("MISSED");
		assertThat(goal.kept(0.3)).isTrue();
		assertThat(goal.kept(0.31)).isFalse();
	}

	@Test
	void moreIsBetterOverALowerBound() {
		Goal goal = Goal.atLeast("ratio", 1.8, 2.3);
		assertThat(goal.verdict(2.3)).isEqualTo("aim");
		assertThat(goal.kept(1.8)).isTrue();
		assertThat(goal.kept(1.7)).isFalse();
	}

	@Test
	void numberWithoutABoundIsAlwaysKept() {
		assertThat(Goal.reported("number").kept(1_000)).isTrue();
		assertThat(Goal.reported("number").verdict(1_000)).isEmpty();
		assertThat(new Goal("number", null, 1.05, true).verdict(1.01)).isEqualTo("aim");
	}

	@Test
	void valueThatIsNotANumberBreaksEveryBound() {
		assertThat(Goal.atMost("cost", 0.3, 0.2).kept(Double.NaN)).isFalse();
		assertThat(Goal.atLeast("ratio", 1.8, 2.3).kept(Double.NaN)).isFalse();
	}

}
