package dev.ratelimit.store;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class StoreIdTests {

	@Test
	void decidedStoreReplacesThoseItNames() {
		String next = StoreId.replacing(List.of("a", "b", "c"));
		assertThat(List.of("a", "b", "c")).allMatch((id) -> StoreId.replaces(next, id));
		assertThat(StoreId.replaces(next, "d")).isFalse();
		assertThat(StoreId.replaces(next, next)).isFalse();
		assertThat(StoreId.replaces("a", next)).isFalse();
	}

	@Test
	void storeWithoutIdIsReplacedByNone() {
		assertThat(StoreId.replaces(StoreId.replacing(List.of("a", "")), "")).isFalse();
		assertThat(StoreId.replaces("", "a")).isFalse();
	}

	@Test
	void laterDecisionReplacesWhatEarlierOnesDid() {
		String first = StoreId.replacing(List.of("a"));
		String second = StoreId.replacing(List.of(first, "b"));
		assertThat(List.of("a", "b", first)).allMatch((id) -> StoreId.replaces(second, id));
	}

	@Test
	void idStaysShortAndForgetsTheOldestFirst() {
		String id = "first";
		String before = id;
		for (int i = 0; i < 50; i++) {
			before = id;
			id = StoreId.replacing(List.of(id, "other" + i));
		}
		assertThat(id).hasSizeLessThan(700);
		assertThat(StoreId.replaces(id, before)).isTrue();
		assertThat(StoreId.replaces(id, "first")).isFalse();
	}

}
