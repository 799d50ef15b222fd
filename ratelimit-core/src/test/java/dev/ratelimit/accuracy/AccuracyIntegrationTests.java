package dev.ratelimit.accuracy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.ratelimit.Enforcement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How many too many are admitted and how many too many refused, by fleets of one, two and
 * four instances on a real Redis. No bound has slack for a slow machine: a time counts
 * from before a check was sent to after it was answered, and a load that was held up does
 * not catch up.
 */
@Tag("alone")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AccuracyIntegrationTests {

	private static final List<Integer> INSTANCES = List.of(1, 2, 4);

	private static final Duration TIME = Duration.ofSeconds(5);

	/** How long a lease lasts, in seconds. */
	private static final double EXPIRY = 1;

	/** A permit is whole, and what has come back of the next one is not. */
	private static final double ROUNDING = 1;

	private final List<Outcome> outcomes = new ArrayList<>();

	@BeforeAll
	void run() {
		// What is not compiled yet is late, and says nothing about limits.
		try (Fleet cold = new Fleet(1)) {
			cold.run(Duration.ofSeconds(2));
		}
		for (int instances : INSTANCES) {
			try (Fleet fleet = new Fleet(instances)) {
				this.outcomes.addAll(fleet.run(TIME));
			}
		}
		new AccuracyReport(this.outcomes).publish();
	}

	@ParameterizedTest
	@MethodSource("strict")
	void strictFleetNeverAdmitsMoreThanTheLimit(Outcome outcome) {
		assertThat(outcome.excess()).isLessThan(ROUNDING);
	}

	@ParameterizedTest
	@MethodSource("leased")
	void leasedFleetAdmitsAtMostWhatComesBackUntilALeaseExpiresOnTop(Outcome outcome) {
		double onTop = outcome.caller().permits(EXPIRY) - outcome.caller().permits(0);
		assertThat(outcome.excess()).isLessThan(onTop + ROUNDING);
	}

	@ParameterizedTest
	@MethodSource("all")
	void fleetNeverAdmitsMoreThanRedisGranted(Outcome outcome) {
		assertThat(outcome.admitted()).isPositive().isLessThanOrEqualTo(outcome.granted());
	}

	@ParameterizedTest
	@MethodSource("all")
	void redisNeverGrantsMoreThanTheLimit(Outcome outcome) {
		// What was asked for in time may be answered a moment after it.
		assertThat((double) outcome.granted()).isLessThan(outcome.caller().permits(outcome.seconds()) + ROUNDING);
	}

	@ParameterizedTest
	@MethodSource("strictWithin")
	void strictFleetNeverRefusesWhoIsWithinTheLimit(Outcome outcome) {
		assertThat(outcome.refused()).isZero();
	}

	@ParameterizedTest
	@MethodSource("leasedWithin")
	void leasedFleetRefusesLessThanOneInAThousandWhoAreWithinTheLimit(Outcome outcome) {
		assertThat(outcome.refused()).isLessThanOrEqualTo(outcome.asked() / 1_000);
	}

	/**
	 * A full counter would hide this for long: only what a caller at 80 % of its limit
	 * leaves may be lost, or it would be refused in the end.
	 */
	@ParameterizedTest
	@MethodSource("leasedWithin")
	void leasesLoseLessThanWhatACallerWithinTheLimitLeaves(Outcome outcome) {
		assertThat((double) outcome.granted()).isLessThan(outcome.asked() / 0.8);
	}

	@ParameterizedTest
	@MethodSource("above")
	void whoIsAboveTheLimitGetsWhatItHas(Outcome outcome) {
		assertThat(outcome.share()).isGreaterThanOrEqualTo(0.95);
	}

	@ParameterizedTest
	@MethodSource("busy")
	void busyCountersAreAnsweredFromLeases(Outcome outcome) {
		// At first nothing is hot, and no rate is known.
		assertThat(outcome.leased()).isGreaterThan(outcome.admitted() * 2 / 3);
	}

	List<Outcome> all() {
		return this.outcomes;
	}

	Stream<Outcome> strict() {
		return this.outcomes.stream().filter((outcome) -> outcome.enforcement() == Enforcement.STRICT);
	}

	Stream<Outcome> leased() {
		return this.outcomes.stream().filter((outcome) -> outcome.enforcement() != Enforcement.STRICT);
	}

	Stream<Outcome> strictWithin() {
		return strict().filter((outcome) -> outcome.caller().within());
	}

	Stream<Outcome> leasedWithin() {
		return leased().filter((outcome) -> outcome.caller().within());
	}

	Stream<Outcome> above() {
		// Who pulses is idle in between, and a counter does not fill above its burst.
		return this.outcomes.stream()
			.filter((outcome) -> outcome.caller() == Caller.ABOVE || outcome.caller() == Caller.DRAINING);
	}

	Stream<Outcome> busy() {
		return leased().filter((outcome) -> outcome.caller() == Caller.EVEN);
	}

}
