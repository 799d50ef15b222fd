package dev.ratelimit.gateway;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.reactive.server.StatusAssertions;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

/**
 * A route whose limiter is a bean of the application that fails: never a 500.
 */
@SpringBootTest(classes = { GatewayTestApplication.class, BrokenLimiterTests.Limiter.class },
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("gateway-test")
class BrokenLimiterTests {

	@Autowired
	private WebTestClient client;

	@Autowired
	private BrokenLimiter limiter;

	@BeforeEach
	void repair() {
		this.limiter.mode = FailureMode.ALLOW;
		this.limiter.degrades = true;
	}

	@ParameterizedTest
	@EnumSource
	void failureModeAnswersForALimiterThatFails(Fault fault) {
		this.limiter.fault = fault;
		get("member").isOk();
		this.limiter.mode = FailureMode.DENY;
		get("member").isEqualTo(503);
	}

	@ParameterizedTest
	@EnumSource
	void requestsPassIfTheFailureModeFailsToo(Fault fault) {
		this.limiter.fault = fault;
		this.limiter.degrades = false;
		get("member").isOk();
	}

	@Test
	void denyListHoldsEvenThen() {
		this.limiter.fault = Fault.THROWS;
		this.limiter.degrades = false;
		get("banned-tenant").isForbidden();
	}

	private StatusAssertions get(String tenant) {
		return this.client.get()
			.uri("/orders")
			.header("Authorization", Tokens.of(tenant, UUID.randomUUID().toString()))
			.exchange()
			.expectStatus();
	}

	enum Fault {

		THROWS((request) -> {
			throw new IllegalStateException("broken");
		}), THROWS_AN_ERROR((request) -> {
			throw new NoClassDefFoundError("broken");
		}), FAILS((request) -> CompletableFuture.failedStage(new IllegalStateException("broken"))),
		FAILS_LATER((request) -> CompletableFuture.supplyAsync(() -> {
			throw new IllegalStateException("broken");
		})), NO_STAGE((request) -> null), NO_DECISION((request) -> CompletableFuture.completedStage(null));

		private final Function<Request, @Nullable CompletionStage<Decision>> answer;

		Fault(Function<Request, @Nullable CompletionStage<Decision>> answer) {
			this.answer = answer;
		}

	}

	static class BrokenLimiter implements RateLimiter {

		private volatile Fault fault = Fault.THROWS;

		private volatile FailureMode mode = FailureMode.ALLOW;

		private volatile boolean degrades = true;

		@Override
		public CompletionStage<Decision> check(Request request) {
			return this.fault.answer.apply(request);
		}

		@Override
		public CompletionStage<Decision> degrade(Request request, Throwable failure) {
			return this.degrades
					? CompletableFuture.completedStage(Decision.by(this.mode, request, 0, Decision.Reason.INTERNAL))
					: check(request);
		}

	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Limiter {

		@Bean
		BrokenLimiter brokenLimiter() {
			return new BrokenLimiter();
		}

	}

}
