package dev.ratelimit.metrics;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.ratelimit.control.Author;
import dev.ratelimit.control.RolloutListener;

import static org.assertj.core.api.Assertions.assertThat;

class RolloutMetersTests {

	@Test
	void onlyWhatWasTakenBackCountsAndZeroIsShownFromTheStart() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		RolloutMeters meters = new RolloutMeters(registry);
		assertThat(registry.get("ratelimit.rollbacks").counter().count()).isZero();
		meters.changed(event(false));
		meters.changed(event(true));
		assertThat(registry.get("ratelimit.rollbacks").counter().count()).isEqualTo(1);
	}

	private static RolloutListener.Event event(boolean rolledBack) {
		return new RolloutListener.Event("orders", rolledBack, 2, 3, new Author("rollout", "refuses too much"));
	}

}
