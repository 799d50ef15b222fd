package dev.ratelimit.config;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which of several similar names is suggested.
 */
class NearestTests {

	@Test
	void ofNamesWithAsManyDifferencesTheOneWithTheMostSimilarLengthIsSuggested() {
		assertThat(Nearest.of("order", List.of("order-exports-nightly", "orders"))).isEqualTo("orders");
		assertThat(Nearest.of("order", List.of("orders", "order-exports-nightly"))).isEqualTo("orders");
		assertThat(Nearest.of("PSOT", List.of("PUT", "POST"))).isEqualTo("POST");
	}

	@Test
	void ofNamesWithAsManyDifferencesAndTheSameLengthTheFirstByNameIsSuggested() {
		assertThat(Nearest.of("ordes", List.of("orders", "ordeas"))).isEqualTo("ordeas");
		assertThat(Nearest.of("ordes", List.of("ordeas", "orders"))).isEqualTo("ordeas");
	}

	@Test
	void fewerDifferencesCountMoreThanTheLength() {
		assertThat(Nearest.of("orderss", List.of("login", "orders-a"))).isEqualTo("orders-a");
	}

}
