package dev.ratelimit.test;

import java.time.Duration;
import java.util.List;

import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Dimension;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.Reservation;

import static dev.ratelimit.test.DecisionAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class TestRateLimiterTests {

	private final TestRateLimiter limiter = TestRateLimiter
		.of(Policy.builder("orders").limit("per-user", List.of(Dimension.USER), "2/m").build());

	private final Request request = Request.of("orders").with(Dimension.USER, "ann");

	@Test
	void limitsAsTheApplicationDoes() {
		assertThat(this.limiter.decide(this.request)).isAllowed().hasRemaining(1);
		assertThat(this.limiter.decide(this.request)).isAllowed().hasRemaining(0);
		assertThat(this.limiter.decide(this.request)).isRefusedBy("per-user").hasRetryAfter(Duration.ofSeconds(30));
	}

	@Test
	void permitsComeBackWhenTheClockIsMoved() {
		this.limiter.decide(this.request.withCost(2));
		assertThat(this.limiter.decide(this.request)).isRefused();
		this.limiter.clock().advance(Duration.ofSeconds(30));
		assertThat(this.limiter.decide(this.request)).isAllowed().hasRemaining(0);
	}

	@Test
	void coolDownEndsWhenTheClockIsMoved() {
		TestRateLimiter limiter = TestRateLimiter.of(Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "1/s")
			.penalty(new Penalty(1, Duration.ofMinutes(10), Duration.ofMinutes(10), 0, Duration.ofHours(1), 0))
			.build());
		limiter.decide(this.request);
		limiter.decide(this.request);
		// Later than what was under way at the first refusal, and before its end: an
		// offence.
		limiter.clock().advance(Duration.ofMillis(300));
		limiter.decide(this.request);
		limiter.clock().advance(Duration.ofMinutes(9));
		assertThat(limiter.decide(this.request)).isRefused();
		limiter.clock().advance(Duration.ofMinutes(11));
		assertThat(limiter.decide(this.request)).isAllowed();
	}

	@Test
	void reservationExpiresWhenTheClockIsMoved() {
		Reservation reservation = this.limiter.reserve(this.request, Duration.ofMinutes(1))
			.toCompletableFuture()
			.join();
		Assertions.assertThat(reservation.remaining()).isEqualTo(1);
		this.limiter.clock().advance(Duration.ofMinutes(1));
		Assertions.assertThat(reservation.remaining()).isZero();
	}

	@Test
	void chargeTakesPermitsThatAreNotThere() {
		this.limiter.charge(this.request.withCost(4));
		assertThat(this.limiter.decide(this.request)).isRefused();
		this.limiter.clock().advance(Duration.ofMinutes(1));
		assertThat(this.limiter.decide(this.request)).isRefused();
	}

	@Test
	void giveBackBringsPermitsBack() {
		this.limiter.decide(this.request.withCost(2));
		this.limiter.giveBack(this.request.withCost(1));
		assertThat(this.limiter.decide(this.request)).isAllowed().hasRemaining(0);
	}

	@Test
	void callersAreCountedApart() {
		this.limiter.decide(this.request.withCost(2));
		assertThat(this.limiter.decide(this.request.with(Dimension.USER, "bob"))).isAllowed();
	}

	@Test
	void retryIsAReplay() {
		TestRateLimiter limiter = TestRateLimiter.of(Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "2/m")
			.idempotency(new Idempotency("X-Request-Id", Duration.ofMinutes(10), 1))
			.build());
		Request attempt = this.request.withIdempotencyKey("a");
		assertThat(limiter.decide(attempt)).isAllowed().isNotReplay().hasRemaining(1);
		assertThat(limiter.decide(attempt)).isReplay().hasRemaining(1);
		assertThat(limiter.decide(attempt)).isAllowed().isNotReplay().hasRemaining(0);
	}

	@Test
	void failureSaysWhatWasDecided() {
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.limiter.decide(this.request)).isRefused())
			.withMessageContaining("Expected the request to be refused")
			.withMessageContaining("orders");
	}

	@Test
	void wrongLimitIsNamed() {
		this.limiter.decide(this.request.withCost(2));
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.limiter.decide(this.request)).isRefusedBy("per-tenant"))
			.withMessageContaining("'per-tenant'");
	}

}
