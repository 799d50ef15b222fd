package dev.ratelimit.penalty;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Penalty;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is an offence, in milliseconds from the first refusal.
 */
class ConductTests {

	private static final long MILLI = 1_000_000;

	private final Penalty terms = new Penalty(2, Duration.ofSeconds(10), Duration.ofSeconds(30), 5,
			Duration.ofSeconds(60), 0);

	private Conduct conduct = Conduct.NONE;

	@Test
	void refusalsWithin250MillisecondsOfTheFirstAreNoOffence() {
		refuse(0, 1_000);
		refuse(249, 1_000);
		assertThat(this.conduct.offences()).isZero();
		refuse(250, 1_000);
		assertThat(this.conduct.offences()).isOne();
	}

	@Test
	void refusalAtTheEndOfTheWaitBeginsANewRun() {
		refuse(0, 1_000);
		refuse(1_000, 1_000);
		assertThat(this.conduct.offences()).isZero();
		assertThat(this.conduct.first()).isEqualTo(1_000 * MILLI);
		refuse(1_999, 1_000);
		assertThat(this.conduct.offences()).isOne();
	}

	@Test
	void laterRefusalExtendsTheRunAndAShorterWaitDoesNotShortenIt() {
		refuse(0, 5_000);
		refuse(100, 1_000);
		refuse(4_999, 1_000);
		assertThat(this.conduct.offences()).isOne();
		assertThat(this.conduct.end()).isEqualTo(5_999 * MILLI);
	}

	@Test
	void everySecondOffenceBeginsACoolDownTwiceAsLongAndTheFifthABan() {
		refuse(0, 1_000);
		refuse(300, 1_000);
		assertThat(this.conduct.began()).isZero();
		refuse(400, 1_000);
		assertThat(this.conduct.began()).isEqualTo(10_000 * MILLI);
		assertThat(this.conduct.end()).isEqualTo(10_400 * MILLI);
		refuse(500, 1_000);
		refuse(600, 1_000);
		assertThat(this.conduct.began()).isEqualTo(20_000 * MILLI);
		refuse(700, 1_000);
		assertThat(this.conduct.banned()).isTrue();
		assertThat(this.conduct.began()).isEqualTo(60_000 * MILLI);
		assertThat(this.conduct.offences()).isZero();
	}

	@Test
	void offencesAreForgottenMaxAfterTheLast() {
		refuse(0, 60_000);
		refuse(300, 60_000);
		refuse(30_299, 60_000);
		assertThat(this.conduct.offences()).isEqualTo(2);
		refuse(60_299, 60_000);
		assertThat(this.conduct.offences()).isOne();
	}

	@Test
	void refusalsByRedisThatAreNoOffenceHereAreKeptForTheFleet() {
		this.conduct = this.conduct.refused(0, 1_000 * MILLI, new Conduct.Central(7_000, 8_000), this.terms)
			.refused(10 * MILLI, 1_000 * MILLI, new Conduct.Central(7_010, 8_010), this.terms)
			.refused(300 * MILLI, 1_000 * MILLI, new Conduct.Central(7_300, 8_300), this.terms);
		assertThat(this.conduct.unsent()).isEqualTo(new Conduct.Unsent(1, new Conduct.Central(7_000, 8_010), 2));
		assertThat(this.conduct.sent().unsent()).isEqualTo(Conduct.Unsent.NOTHING);
	}

	@Test
	void unsentRefusalsOfAnEarlierRunAreDroppedAndItsOffencesAreNot() {
		this.conduct = this.conduct.refused(0, 1_000 * MILLI, new Conduct.Central(7_000, 8_000), this.terms)
			.refused(300 * MILLI, 1_000 * MILLI, null, this.terms)
			.refused(5_000 * MILLI, 1_000 * MILLI, new Conduct.Central(12_000, 13_000), this.terms);
		assertThat(this.conduct.unsent()).isEqualTo(new Conduct.Unsent(1, new Conduct.Central(12_000, 13_000), 1));
	}

	@Test
	void offencesOfTheFleetCountTogetherWithThoseNotSent() {
		refuse(0, 1_000);
		refuse(300, 1_000);
		this.conduct = this.conduct.sent();
		refuse(310, 1_000);
		this.conduct = this.conduct.learned(3, 0, 320 * MILLI);
		assertThat(this.conduct.offences()).isEqualTo(4);
		refuse(330, 1_000);
		assertThat(this.conduct.banned()).isTrue();
	}

	private void refuse(long millis, long wait) {
		this.conduct = this.conduct.refused(millis * MILLI, wait * MILLI, null, this.terms);
	}

}
