package dev.ratelimit.benchmarks.gateway;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class WarmUpTests {

	private final WarmUp warmUp = new WarmUp(12);

	@Test
	void twoTurnsAreNotEnough() {
		add(100, 100);
		add(100, 100);
		assertThat(this.warmUp.over()).isFalse();
	}

	@Test
	void threeTurnsThatDifferByLessThanFivePercentAreSteady() {
		add(100, 200);
		add(104.9, 210);
		add(102, 200);
		assertThat(this.warmUp.steady()).isTrue();
		assertThat(this.warmUp.over()).isTrue();
	}

	@Test
	void fivePercentIsTooMuch() {
		add(100, 200);
		add(105, 210);
		add(102, 200);
		assertThat(this.warmUp.over()).isFalse();
	}

	@Test
	void earlierTurnsDoNotMatter() {
		add(500, 900);
		add(200, 300);
		add(100, 200);
		add(101, 201);
		assertThat(this.warmUp.over()).isFalse();
		add(102, 202);
		assertThat(this.warmUp.over()).isTrue();
	}

	@Test
	void sumOverTheRoutesHasToBeSteady() {
		add(100, 230);
		add(130, 200);
		add(115, 215);
		assertThat(this.warmUp.steady()).isTrue();
		add(115, 248);
		assertThat(this.warmUp.steady()).isFalse();
		assertThat(this.warmUp.spread()).isCloseTo(0.1, within(1e-9));
	}

	@Test
	void itIsOverAfterTheLastTurnEvenIfNotSteady() {
		for (int turn = 1; turn < 12; turn++) {
			add(100 * turn, 100);
			assertThat(this.warmUp.over()).isFalse();
		}
		add(5_000, 100);
		assertThat(this.warmUp.over()).isTrue();
		assertThat(this.warmUp.steady()).isFalse();
	}

	private void add(double plain, double strict) {
		this.warmUp.add(List.of(plain, strict));
	}

}
