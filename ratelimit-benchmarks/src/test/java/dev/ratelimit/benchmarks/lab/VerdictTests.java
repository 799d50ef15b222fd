package dev.ratelimit.benchmarks.lab;

import org.junit.jupiter.api.Test;

import dev.ratelimit.benchmarks.common.Median;

import static org.assertj.core.api.Assertions.assertThat;

class VerdictTests {

	@Test
	void levelIsOnlyDecidedIfTheWholeIntervalIsOnOneSide() {
		assertThat(Verdict.atMost("p99", Median.of(1, 2, 3), 3, "ms").result()).isEqualTo(Verdict.Result.MET);
		assertThat(Verdict.atMost("p99", Median.of(1, 2, 3), 2, "ms").result())
			.isEqualTo(Verdict.Result.NOT_RESOLVABLE);
		assertThat(Verdict.atMost("p99", Median.of(1, 2, 3), 0.5, "ms").result()).isEqualTo(Verdict.Result.NOT_MET);
	}

	@Test
	void onlyAWrongAnswerBreaksARun() {
		assertThat(Verdict.bound("admitted", false, "").broken()).isTrue();
		assertThat(Verdict.bound("admitted", true, "").broken()).isFalse();
		assertThat(Verdict.level("p99", false, "").broken()).isFalse();
	}

}
