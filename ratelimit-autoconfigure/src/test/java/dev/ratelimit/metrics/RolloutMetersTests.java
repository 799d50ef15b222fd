package dev.ratelimit.metrics;

import java.time.Instant;
import java.util.List;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.ratelimit.control.Author;
import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

import static org.assertj.core.api.Assertions.assertThat;

class RolloutMetersTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private RolloutState.Judgement judgement;

	private boolean leads;

	private final RolloutMeters meters = new RolloutMeters(this.registry,
			(policy) -> new RolloutState(2, 1L, 1, 1, 3, Instant.EPOCH, Instant.EPOCH, this.judgement, null), () -> 2,
			() -> this.leads);

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
		assertThat(this.registry.getMeters()).noneMatch((meter) -> meter.getId().getTag("policy") != null);
	}

	@Test
	void rolloutThatWaitsForCallersIsShown() {
		this.meters.changed(List.of(version(RecordKey.Kind.POLICY)));
		this.meters.changed(List.of(version(RecordKey.Kind.POLICY)));
		assertThat(waiting("too-few-callers")).isZero();
		this.judgement = RolloutState.Judgement.TOO_FEW_CALLERS;
		assertThat(waiting("too-few-callers")).isOne();
		assertThat(waiting("windows-too-long")).isZero();
		this.judgement = RolloutState.Judgement.WINDOWS_TOO_LONG;
		assertThat(waiting("windows-too-long")).isOne();
	}

	@Test
	void instanceThatLeadsIsShown() {
		assertThat(this.registry.get("ratelimit.rollout.active").gauge().value()).isEqualTo(2);
		assertThat(this.registry.get("ratelimit.rollout.leader").gauge().value()).isZero();
		this.leads = true;
		assertThat(this.registry.get("ratelimit.rollout.leader").gauge().value()).isOne();
	}

	@Test
	void metersGoWithThePolicy() {
		this.meters.changed(List.of(version(RecordKey.Kind.POLICY)));
		assertThat(this.registry.find("ratelimit.rollout.waiting").gauges()).hasSize(2);
		this.registry.remove(this.registry.get("ratelimit.rollout.rollbacks").counter());
		this.meters.changed(List.of(new RecordVersion(new RecordKey(RecordKey.Kind.POLICY, "orders"), 2, 2, null, "ann",
				Instant.EPOCH, "")));
		assertThat(this.registry.find("ratelimit.rollout.waiting").gauges()).isEmpty();
		assertThat(this.registry.find("ratelimit.rollout.rollbacks").counter()).isNull();
	}

	private double waiting(String reason) {
		return this.registry.get("ratelimit.rollout.waiting")
			.tag("policy", "orders")
			.tag("reason", reason)
			.gauge()
			.value();
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
