package dev.ratelimit.metrics;

import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.ratelimit.penalty.PenaltyListener.Kind;

import static org.assertj.core.api.Assertions.assertThat;

class PenaltyMetersTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final AtomicInteger bans = new AtomicInteger();

	private final PenaltyMeters meters = new PenaltyMeters(this.registry, this.bans::get);

	@Test
	void penaltiesAreCountedByPolicyAndKind() {
		this.meters.began("login", Kind.COOL_DOWN);
		this.meters.began("login", Kind.COOL_DOWN);
		this.meters.began("login", Kind.BAN);
		assertThat(count("login", "cool-down")).isEqualTo(2);
		assertThat(count("login", "ban")).isEqualTo(1);
	}

	@Test
	void gaugeHasTheBansThatAreKnown() {
		this.bans.set(3);
		assertThat(this.registry.get("ratelimit.bans").gauge().value()).isEqualTo(3);
	}

	private double count(String policy, String kind) {
		return this.registry.get("ratelimit.penalties").tags("policy", policy, "kind", kind).counter().count();
	}

}
