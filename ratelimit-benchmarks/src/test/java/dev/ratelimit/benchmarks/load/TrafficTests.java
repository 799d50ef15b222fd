package dev.ratelimit.benchmarks.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

class TrafficTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	@Test
	void oneSeedIsOneSchedule() {
		Traffic traffic = new Traffic(3, 10_000, 5_000_000, 1.2, 2, 300, 0.05);

		assertThat(all(traffic)).isEqualTo(all(traffic));
		assertThat(all(traffic)).isNotEqualTo(all(new Traffic(4, 10_000, 5_000_000, 1.2, 2, 300, 0.05)));
	}

	@Test
	void requestsAreDueAtEqualDistances() {
		List<Arrival> all = all(new Traffic(1, 1_000, 100, 1.2, 0, 0, 0));

		assertThat(all).hasSize(1_000).extracting(Arrival::cost).containsOnly(1);
		for (int i = 0; i < all.size(); i++) {
			assertThat(all.get(i).dueNanos()).isEqualTo(i * 1_000_000L);
		}
	}

	@Test
	void hotKeysHaveExactlyTheirRate() {
		List<Arrival> all = all(new Traffic(1, 10_000, 1_000, 1.2, 3, 150, 0));

		for (int hot = 0; hot < 3; hot++) {
			int key = hot;
			assertThat((double) all.stream().filter((arrival) -> arrival.key() == key).count()).isCloseTo(150,
					within(1.0));
		}
		assertThat(all).extracting(Arrival::key).allSatisfy((key) -> assertThat(key).isBetween(0, 999));
	}

	@Test
	void sliceOfTheRequestsCostsFiveToFifty() {
		List<Arrival> costly = all(new Traffic(1, 20_000, 1_000, 1.2, 0, 0, 0.05)).stream()
			.filter((arrival) -> arrival.cost() > 1)
			.toList();

		// Six standard deviations of a binomial distribution.
		assertThat((double) costly.size()).isCloseTo(1_000, within(185.0));
		assertThat(costly).extracting(Arrival::cost).contains(5, 50).allMatch((cost) -> cost >= 5 && cost <= 50);
	}

	@Test
	void hotKeysThatSendMoreThanEverythingAreAnError() {
		assertThatIllegalArgumentException().isThrownBy(() -> new Traffic(1, 100, 10, 1.2, 2, 51, 0))
			.withMessageContaining("2 hot keys");
	}

	private static List<Arrival> all(Traffic traffic) {
		List<Arrival> all = new ArrayList<>();
		Arrivals arrivals = traffic.arrivals(SECOND.toNanos());
		for (Arrival next = arrivals.next(); next != null; next = arrivals.next()) {
			all.add(next);
		}
		return all;
	}

}
