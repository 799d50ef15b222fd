package dev.ratelimit.metrics;

import java.time.Instant;
import java.util.List;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.ratelimit.control.Author;
import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

import static org.assertj.core.api.Assertions.assertThat;

class RolloutMetersTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final RolloutMeters meters = new RolloutMeters(this.registry);

	@Test
	void versionThatIsTakenBackIsCounted() {
		this.meters.changed(event(true));
		this.meters.changed(event(true));
		assertThat(rollbacks()).isEqualTo(2);
	}

	@Test
	void stageThatBeginsIsNot() {
		this.meters.changed(List.of(version(RecordKey.Kind.POLICY)));
		this.meters.changed(event(false));
		assertThat(rollbacks()).isZero();
	}

	@Test
	void policyThatIsEditedHasACounterAtZero() {
		this.meters.changed(List.of(version(RecordKey.Kind.POLICY)));
		assertThat(rollbacks()).isZero();
	}

	@Test
	void callersHaveNone() {
		this.meters.changed(List.of(version(RecordKey.Kind.OVERRIDE)));
		assertThat(this.registry.getMeters()).isEmpty();
	}

	private double rollbacks() {
		return this.registry.get("ratelimit.rollout.rollbacks").tag("policy", "orders").counter().count();
	}

	private static RolloutListener.Event event(boolean back) {
		return new RolloutListener.Event("orders", back, 2, 3, new Author("rollout", "because"));
	}

	private static RecordVersion version(RecordKey.Kind kind) {
		return new RecordVersion(new RecordKey(kind, "orders"), 1, 1, "{}", "ann", Instant.EPOCH, "");
	}

}
