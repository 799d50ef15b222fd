package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.ReplicaState;
import dev.ratelimit.store.ReplicaState.Incident;
import dev.ratelimit.store.ReplicaState.Origin;

import static org.assertj.core.api.Assertions.assertThat;

class StoreMetersTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private ReplicaState state = new ReplicaState("", 0, null, Origin.STORE, false, null);

	private final StoreMeters meters = new StoreMeters(this.registry, () -> this.state, () -> 2);

	@Test
	void staleIsOneWhilePoliciesMayBeOld() {
		assertThat(gauge("ratelimit.policies.stale")).isZero();
		this.state = new ReplicaState("a", 7, null, Origin.STORE, true, null);
		assertThat(gauge("ratelimit.policies.stale")).isOne();
		this.state = new ReplicaState("a", 7, null, Origin.STORE, true, Incident.EMPTY);
		assertThat(gauge("ratelimit.policies.stale")).isOne();
		this.state = new ReplicaState("a", 8, null, Origin.STORE, false, null);
		assertThat(gauge("ratelimit.policies.stale")).isZero();
	}

	@Test
	void missingIsOneUntilTheStoreOrASnapshotWasRead() {
		this.state = new ReplicaState("", 0, null, Origin.NOTHING, true, null);
		assertThat(gauge("ratelimit.policies.missing")).isOne();
		this.state = new ReplicaState("a", 7, null, Origin.SNAPSHOT, false, null);
		assertThat(gauge("ratelimit.policies.missing")).isZero();
		this.state = new ReplicaState("", 0, null, Origin.STORE, false, null);
		assertThat(gauge("ratelimit.policies.missing")).isZero();
	}

	@Test
	void versionsThatAreNotInForceAreCounted() {
		assertThat(gauge("ratelimit.policies.rejected")).isEqualTo(2);
	}

	@Test
	void versionIsTheRevisionThatIsInForce() {
		assertThat(gauge("ratelimit.policies.version")).isZero();
		this.state = new ReplicaState("a", 4_711, null, Origin.STORE, false, null);
		assertThat(gauge("ratelimit.policies.version")).isEqualTo(4_711);
	}

	@Test
	void propagationIsTheTimeThatWritesTook() {
		Timer propagation = this.registry.get("ratelimit.policies.propagation").timer();
		this.meters.changed(List.of());
		assertThat(propagation.count()).isZero();
		this.meters.propagated(Duration.ofMillis(20));
		this.meters.propagated(Duration.ofMillis(40));
		assertThat(propagation.count()).isEqualTo(2);
		assertThat(propagation.totalTime(TimeUnit.MILLISECONDS)).isEqualTo(60);
		assertThat(propagation.max(TimeUnit.MILLISECONDS)).isEqualTo(40);
	}

	private double gauge(String name) {
		return this.registry.get(name).gauge().value();
	}

}
