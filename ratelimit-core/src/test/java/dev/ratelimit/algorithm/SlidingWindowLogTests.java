package dev.ratelimit.algorithm;

import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

class SlidingWindowLogTests {

	private static final long START = 20_000L * 86_400 * 1_000_000;

	@Test
	void entryLeavesExactlyOneWindowAfterItCame() {
		Counting counting = Counting.of(Algorithm.SLIDING_WINDOW_LOG, "2/s");
		assertThat(counting.attempt(START, 1)).isTrue();
		assertThat(counting.attempt(START + 400_000, 1)).isTrue();
		assertThat(counting.attempt(START + 999_999, 1)).isFalse();
		assertThat(counting.attempt(START + 1_000_000, 1)).isTrue();
		assertThat(counting.waitFor(START + 1_000_000, 1L)).isEqualTo(400_000);
	}

	@Test
	void requestsOfOneMicrosecondShareAnEntry() {
		Counting counting = Counting.of(Algorithm.SLIDING_WINDOW_LOG, "10000/s");
		for (int i = 0; i < 1_000; i++) {
			assertThat(counting.attempt(START, 7)).isTrue();
		}
		assertThat(counting.state).containsExactly(START, 0, 7_000);
	}

	@Test
	void entriesAheadOfAClockThatWasSetBackJoinTheOneThatIsThere() {
		Counting counting = Counting.of(Algorithm.SLIDING_WINDOW_LOG, "10/s");
		assertThat(counting.attempt(START, 1)).isTrue();
		assertThat(counting.attempt(START + 5, 2)).isTrue();
		assertThat(counting.attempt(START + 9, 3)).isTrue();
		assertThat(counting.settled(START + 5)).containsExactly(START, 0, 1, START + 5, 1, 5);
		assertThat(counting.settled(START + 4)).containsExactly(START, 0, 1, START + 4, 1, 5);
	}

	@Test
	void logHoldsNoMoreEntriesThanPermits() {
		Counting counting = Counting.of(Algorithm.SLIDING_WINDOW_LOG, "50/s", "70/2s");
		for (int i = 0; i < 5_000; i++) {
			counting.attempt(START + i * 1_000L, 1);
			assertThat(counting.state.length).isLessThanOrEqualTo(70 * 3);
		}
	}

	@Test
	void logOfManyPermitsInAShortWindowStaysShortBesideALongWindow() {
		Pace[] paces = Pace.of(List.of(Quota.parse("10000/s")), List.of(LiveWindow.of(Quota.parse("100/d"))));
		long[] log = {};
		for (int i = 0; i < 3_000; i++) {
			log = SlidingWindowLog.INSTANCE.take(log, paces, START + i * 1_000L, 1);
			assertThat(log.length).isLessThanOrEqualTo(1_001 * 3);
		}
	}

	@Test
	void deepestEntryThatCanBeGivenBackHasSoManyBehindIt() {
		int deepest = SlidingWindowLog.DEEPEST_GIVE_BACK;
		Counting counting = Counting.of(Algorithm.SLIDING_WINDOW_LOG, "10000/m");
		for (int i = 0; i <= deepest; i++) {
			assertThat(counting.attempt(START + i, 1)).isTrue();
		}
		long now = START + deepest;
		Counting given = counting.copy();
		given.giveBack(now, START, 1);
		assertThat(given.available(now)).isEqualTo(counting.available(now) + 1);
		assertThat(counting.attempt(now + 1, 1)).isTrue();
		Counting left = counting.copy();
		left.giveBack(now + 1, START, 1);
		assertThat(left.available(now + 1)).isEqualTo(counting.available(now + 1));
	}

	@Test
	void givingBackInTheMiddleLeavesTheOthersWhereTheyAre() {
		Counting counting = Counting.of(Algorithm.SLIDING_WINDOW_LOG, "10/s");
		assertThat(counting.attempt(START, 2)).isTrue();
		assertThat(counting.attempt(START + 100_000, 3)).isTrue();
		assertThat(counting.attempt(START + 200_000, 4)).isTrue();
		counting.giveBack(START + 300_000, START + 100_000, 3);
		assertThat(counting.available(START + 300_000)).isEqualTo(4);
		assertThat(counting.available(START + 1_000_000)).isEqualTo(6);
		assertThat(counting.available(START + 1_199_999)).isEqualTo(6);
		assertThat(counting.available(START + 1_200_000)).isEqualTo(10);
	}

}
