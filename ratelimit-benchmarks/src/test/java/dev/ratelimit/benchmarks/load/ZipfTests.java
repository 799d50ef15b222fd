package dev.ratelimit.benchmarks.load;

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ZipfTests {

	private static final int DRAWS = 200_000;

	@ParameterizedTest
	@CsvSource({ "10, 1.2", "1000, 1.2", "1000, 1", "50, 0.5", "1, 1.2" })
	void everyRankIsAsFrequentAsTheLawSays(int ranks, double exponent) {
		int[] drawn = draw(new Zipf(ranks, exponent), ranks);

		double sum = 0;
		for (int rank = 1; rank <= ranks; rank++) {
			sum += Math.pow(rank, -exponent);
		}
		for (int rank = 1; rank <= Math.min(ranks, 20); rank++) {
			double probability = Math.pow(rank, -exponent) / sum;
			double deviation = Math.sqrt(DRAWS * probability * (1 - probability));
			assertThat(drawn[rank - 1] - DRAWS * probability).as("rank " + rank)
				.isBetween(-6 * deviation - 1, 6 * deviation + 1);
		}
	}

	@Test
	void fiveMillionRanksNeedNoTableAndStayInRange() {
		Zipf zipf = new Zipf(5_000_000, 1.2);
		SplittableRandom random = new SplittableRandom(1);
		int largest = 0;
		for (int i = 0; i < DRAWS; i++) {
			int rank = zipf.next(random);
			assertThat(rank).isBetween(0, 4_999_999);
			largest = Math.max(largest, rank);
		}
		// A draw is beyond the first million with a probability of 1.4 %.
		assertThat(largest).isGreaterThan(1_000_000);
	}

	@Test
	void noRankIsAnError() {
		assertThatIllegalArgumentException().isThrownBy(() -> new Zipf(0, 1.2));
	}

	private static int[] draw(Zipf zipf, int ranks) {
		SplittableRandom random = new SplittableRandom(7);
		int[] drawn = new int[ranks];
		for (int i = 0; i < DRAWS; i++) {
			drawn[zipf.next(random)]++;
		}
		return drawn;
	}

}
