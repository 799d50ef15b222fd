package dev.ratelimit.penalty;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PenaltyTermsTests {

	private static final Duration COOL_DOWN = Duration.ofSeconds(10);

	private static final Duration MAX = Duration.ofSeconds(35);

	private static final Duration BAN = Duration.ofHours(1);

	private final Penalty terms = new Penalty(100, COOL_DOWN, MAX, 1_000, BAN, 0);

	@Test
	void coolDownBeginsEveryAfterOffences() {
		assertThat(this.terms.coolDownAt(99)).isZero();
		assertThat(this.terms.coolDownAt(100)).isEqualTo(COOL_DOWN);
		assertThat(this.terms.coolDownAt(101)).isZero();
	}

	@Test
	void coolDownsDoubleUpToTheLongest() {
		assertThat(this.terms.coolDownAt(200)).isEqualTo(Duration.ofSeconds(20));
		assertThat(this.terms.coolDownAt(300)).isEqualTo(MAX);
		assertThat(this.terms.coolDownAt(100_000_000_000L)).isEqualTo(MAX);
	}

	@Test
	void banBeginsWithBanAfterOffencesAndWithoutThatNever() {
		assertThat(this.terms.bansAt(999)).isFalse();
		assertThat(this.terms.bansAt(1_000)).isTrue();
		assertThat(new Penalty(1, COOL_DOWN, MAX, 0, BAN, 0).bansAt(Long.MAX_VALUE)).isFalse();
	}

	@Test
	void impossibleTermsAreRefusedByName() {
		refused("after", () -> new Penalty(0, COOL_DOWN, MAX, 0, BAN, 0));
		refused("cool-down", () -> new Penalty(1, Duration.ofMillis(999), MAX, 0, BAN, 0));
		refused("max", () -> new Penalty(1, COOL_DOWN, Duration.ofDays(32), 0, BAN, 0));
		refused("max of 9s is shorter", () -> new Penalty(1, COOL_DOWN, Duration.ofSeconds(9), 0, BAN, 0));
		refused("ban-after", () -> new Penalty(1, COOL_DOWN, MAX, -1, BAN, 0));
		refused("ban-for", () -> new Penalty(1, COOL_DOWN, MAX, 0, Duration.ZERO, 0));
		refused("close-after", () -> new Penalty(1, COOL_DOWN, MAX, 0, BAN, -1));
	}

	@Test
	void policyWithPenaltyNeedsALimitOfSingleCallers() {
		refused("no limit by user, api-key or ip",
				() -> Policy.builder("orders")
					.limit("per-tenant", List.of(Dimension.TENANT, Dimension.ROUTE), "1/s")
					.penalty(this.terms)
					.build());
		for (Dimension by : List.of(Dimension.USER, Dimension.API_KEY, Dimension.IP)) {
			assertThat(Policy.builder("orders")
				.limit("everybody", List.of(), "9/s")
				.limit("own", List.of(Dimension.TENANT, by), "1/s")
				.penalty(this.terms)
				.build()
				.settings()
				.penalty()).isEqualTo(this.terms);
		}
	}

	private static void refused(String what, Runnable attempt) {
		assertThatIllegalArgumentException().isThrownBy(attempt::run).withMessageContaining(what);
	}

}
