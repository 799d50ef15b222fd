package dev.ratelimit.guard;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class WallClockTests {

	private final WallClock clock = new WallClock();

	@Test
	void momentOfTheJvmsClockHasItsTimeOfDay() {
		long nanos = System.nanoTime();
		long micros = System.currentTimeMillis() * 1_000;
		assertThat(this.clock.micros(nanos)).isCloseTo(micros, within(Duration.ofSeconds(5).toMillis() * 1_000));
		assertThat(this.clock.micros(nanos) - this.clock.micros(nanos - 500_000_000)).isCloseTo(500_000L, within(1L));
	}

}
