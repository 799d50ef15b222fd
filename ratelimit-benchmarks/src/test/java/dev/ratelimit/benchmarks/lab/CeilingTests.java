package dev.ratelimit.benchmarks.lab;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CeilingTests {

	@Test
	void stepsGrowUntilOneFailsAndThenHalveTheRest() throws Exception {
		List<Double> tried = new ArrayList<>();

		double ceiling = Ceiling.search(1_000, 1_000_000, 2, (rate) -> {
			tried.add(rate);
			return rate <= 2_000;
		});

		assertThat(tried).containsExactly(1_000.0, 1_500.0, 2_250.0, 1_875.0, 2_062.5);
		assertThat(ceiling).isEqualTo(1_875);
	}

	@Test
	void searchEndsAtTheHighestRateThatIsTried() throws Exception {
		assertThat(Ceiling.search(1_000, 3_000, 2, (rate) -> true)).isEqualTo(2_250);
	}

	@Test
	void ceilingIsZeroIfNoStepIsKeptUp() throws Exception {
		assertThat(Ceiling.search(1_000, 3_000, 0, (rate) -> false)).isZero();
	}

}
