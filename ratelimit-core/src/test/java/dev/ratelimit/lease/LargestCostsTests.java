package dev.ratelimit.lease;

import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

class LargestCostsTests {

	/** The clock is a monotonic one, which may begin anywhere. */
	@ParameterizedTest
	@ValueSource(longs = { 0, Long.MIN_VALUE, Long.MAX_VALUE - 1_000_000_000L })
	void costIsRememberedForAMinuteAndNotMuchLonger(long start) {
		for (int second = 0; second < 100; second += 7) {
			LargestCosts costs = new LargestCosts(start);
			long at = start + seconds(second);
			costs.add(40, at);
			assertThat(costs.largest(at)).isEqualTo(40);
			assertThat(costs.largest(at + seconds(60))).isEqualTo(40);
			assertThat(costs.largest(at + seconds(71))).isZero();
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 2, 50, Quota.MAX_PERMITS })
	void largestOfManyIsKept(long largest) {
		LargestCosts costs = new LargestCosts(0);
		costs.add(largest, seconds(5));
		for (int second = 6; second < 65; second++) {
			costs.add(1, seconds(second));
			assertThat(costs.largest(seconds(second))).isEqualTo(largest);
		}
		costs.add(1, seconds(80));
		assertThat(costs.largest(seconds(80))).isEqualTo(1);
	}

	/** A place in the ring that was not used for hours says nothing. */
	@ParameterizedTest
	@ValueSource(ints = { 70, 700, 7_000, 70_000 })
	void pauseLeavesNothingBehind(int pause) {
		LargestCosts costs = new LargestCosts(0);
		costs.add(40, seconds(1));
		costs.add(3, seconds(1 + pause));
		assertThat(costs.largest(seconds(1 + pause))).isEqualTo(3);
	}

	private static long seconds(int seconds) {
		return Duration.ofSeconds(seconds).toNanos();
	}

}
