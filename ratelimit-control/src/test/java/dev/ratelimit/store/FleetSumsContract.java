package dev.ratelimit.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What everything has to do that adds up the numbers of a fleet.
 */
public abstract class FleetSumsContract {

	private PolicyStore one;

	private PolicyStore other;

	/** As another instance has them; there are none before the test. */
	protected abstract PolicyStore open();

	/** Makes all that is there older. */
	protected abstract void age(Duration time);

	@BeforeEach
	void openBoth() {
		this.one = open();
		this.other = open();
	}

	@Test
	void numbersOfInstancesAreAddedUpByName() {
		assertThat(add(this.one, "orders:3", 5, 1, 0)).containsExactly(5L, 1L, 0L);
		assertThat(add(this.other, "orders:3", 2, 2, 7)).containsExactly(7L, 3L, 7L);
		assertThat(add(this.other, "orders:4", 1, 0, 0)).containsExactly(1L, 0L, 0L);
		assertThat(add(this.one, "orders:3", 0, 0, 0)).containsExactly(7L, 3L, 7L);
	}

	@Test
	void sumsComeInTheOrderOfTheNumbers() {
		long[] numbers = LongStream.rangeClosed(1, 12).toArray();
		add(this.one, "orders:3", numbers);
		assertThat(add(this.other, "orders:3", numbers))
			.containsExactlyElementsOf(LongStream.rangeClosed(1, 12).map((number) -> 2 * number).boxed().toList());
	}

	@Test
	void instancesThatAddAtOnceLoseNothing() {
		List<CompletableFuture<List<Long>>> under = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			under.add(this.one.add("orders:3", List.of(1L, 10L)).toCompletableFuture());
			under.add(this.other.add("orders:3", List.of(1L, 10L)).toCompletableFuture());
		}
		under.forEach((add) -> add.orTimeout(10, TimeUnit.SECONDS).join());
		assertThat(add(this.one, "orders:3", 0, 0)).containsExactly(40L, 400L);
	}

	@Test
	void numbersStayAsLongAsSomebodyAddsToThem() {
		add(this.one, "orders:3", 5, 1);
		age(Duration.ofHours(23));
		add(this.other, "orders:3", 0, 0);
		age(Duration.ofHours(23));
		assertThat(add(this.one, "orders:3", 1, 1)).containsExactly(6L, 2L);
	}

	@Test
	void numbersThatNobodyAddedToForADayAreForgotten() {
		add(this.one, "orders:3", 5, 1);
		age(Duration.ofHours(25));
		assertThat(add(this.other, "orders:3", 1, 0)).containsExactly(1L, 0L);
	}

	protected static List<Long> add(PolicyStore store, String name, long... numbers) {
		return store.add(name, LongStream.of(numbers).boxed().toList())
			.toCompletableFuture()
			.orTimeout(10, TimeUnit.SECONDS)
			.join();
	}

}
