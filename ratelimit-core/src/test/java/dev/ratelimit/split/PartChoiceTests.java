package dev.ratelimit.split;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;

class PartChoiceTests {

	private static final Counter ACME = new Counter(
			new CounterSpec(Algorithm.GCRA, Limit.of("per-tenant", List.of(Dimension.TENANT), "100/s")),
			new CounterKeys("rl"), "orders", List.of("acme"));

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, -1, 7, 1_000_003, Integer.MAX_VALUE, Integer.MIN_VALUE })
	void everyPartIsReachedWhateverTheInstance(int instance) {
		PartChoice choice = new PartChoice(instance);
		for (int count = 2; count <= Limit.MAX_SPLIT; count++) {
			int number = count;
			int first = choice.first(ACME, number);
			int stride = choice.stride(number);
			assertThat(IntStream.range(0, number).map((step) -> (first + step * stride) % number).distinct())
				.hasSize(number);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 8, 64 })
	void instancesAreSpreadOverAllParts(int count) {
		assertThat(IntStream.range(0, count).map((instance) -> new PartChoice(instance).first(ACME, count)).distinct())
			.hasSize(count);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 5, 63 })
	void partThatHadPermitsIsTheNextToBeAsked(int part) {
		PartChoice choice = new PartChoice(3);
		choice.found(ACME, part);
		assertThat(choice.first(ACME, 64)).isEqualTo(part);
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 8 })
	void partThatIsNoMoreIsNotAsked(int count) {
		PartChoice choice = new PartChoice(3);
		choice.found(ACME, 63);
		assertThat(choice.first(ACME, count)).isBetween(0, count - 1);
	}

}
