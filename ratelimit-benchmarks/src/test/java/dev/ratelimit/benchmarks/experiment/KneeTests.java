package dev.ratelimit.benchmarks.experiment;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KneeTests {

	@Test
	void kneeIsWhereTheCurveBendsMost() {
		assertThat(
				Knee.of(List.of(point(1_000, 0.1), point(500, 0.12), point(200, 0.15), point(100, 5), point(50, 12))))
			.isEqualTo(2);
	}

	@Test
	void scaleOfAnAxisDoesNotMatter() {
		assertThat(Knee.of(List.of(point(10, 100), point(2, 150), point(0, 12_000)))).isEqualTo(1);
	}

	@Test
	void onePointIsItsOwnKnee() {
		assertThat(Knee.of(List.of(point(1, 1)))).isZero();
	}

	private static double[] point(double x, double y) {
		return new double[] { x, y };
	}

}
