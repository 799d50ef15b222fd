package dev.ratelimit.benchmarks.common;

import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class MedianTests {

	@Test
	void oddNumberOfValuesHasTheMiddleOne() {
		assertThat(Median.of(5, 1, 3).value()).isEqualTo(3);
	}

	@Test
	void evenNumberOfValuesHasTheMeanOfTheMiddleTwo() {
		assertThat(Median.of(4, 1, 10, 2).value()).isEqualTo(3);
	}

	@Test
	void oneValueIsItsOwnInterval() {
		assertThat(Median.of(7)).isEqualTo(new Median(7, 7, 7, 1));
	}

	@Test
	void noValueHasNoMedian() {
		assertThatIllegalArgumentException().isThrownBy(() -> Median.of());
	}

	@Test
	void fewValuesHaveTheWholeRangeAsInterval() {
		assertThat(Median.of(3, 1, 2)).isEqualTo(new Median(2, 1, 3, 3));
	}

	/** Ranks of the usual tables for the sign test, 5 % on both sides together. */
	@Test
	void ranksOfTheIntervalAreThoseOfTheBinomialDistribution() {
		assertThat(IntStream.of(5, 6, 8, 9, 12, 20, 25, 30).map(Median::rank)).containsExactly(0, 1, 1, 2, 3, 6, 8, 10);
	}

	@Test
	void intervalOfThirtyValuesIsFromTheTenthToTheTwentyFirst() {
		double[] values = DoubleStream.iterate(30, (value) -> value - 1).limit(30).toArray();
		assertThat(Median.of(values)).isEqualTo(new Median(15.5, 10, 21, 30));
	}

	@Test
	void outlierMovesNeitherMedianNorInterval() {
		assertThat(Median.of(1, 2, 3, 4, 5, 6, 7, 8, 9)).isEqualTo(Median.of(1, 2, 3, 4, 5, 6, 7, 8, 9_000));
	}

}
