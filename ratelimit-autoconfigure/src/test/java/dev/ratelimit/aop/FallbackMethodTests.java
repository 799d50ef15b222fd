package dev.ratelimit.aop;

import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.util.ReflectionUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class FallbackMethodTests {

	private AnnotationConfigApplicationContext context;

	private Orders orders;

	@BeforeEach
	void start() {
		this.context = new AnnotationConfigApplicationContext(AopConfiguration.class, Orders.class);
		this.orders = this.context.getBean(Orders.class);
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void allowedCallIsNotAnsweredByTheFallback() {
		assertThat(this.orders.value("a")).isEqualTo("done a");
	}

	@Test
	void refusedCallIsAnsweredByTheFallback() {
		exhaust();
		assertThat(this.orders.value("a")).isEqualTo("busy a orders");
		assertThat(this.orders.without("a")).isEqualTo("busy a");
		assertThat(this.orders.stage("a").join()).isEqualTo("busy a orders");
		assertThat(this.orders.mono("a").block()).isEqualTo("busy a orders");
		assertThat(this.orders.flux("a").collectList().block()).containsExactly("busy", "a");
	}

	@Test
	void fallbackIsCalledAtEachSubscription() {
		Mono<String> mono = this.orders.mono("a");
		assertThat(mono.block()).isEqualTo("done a");
		exhaust();
		assertThat(mono.block()).isEqualTo("busy a orders");
	}

	@Test
	void refusalInTheBodyAndFailureOfTheFallbackAreNotCaught() {
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> this.orders.nested());
		exhaust();
		assertThatIllegalStateException().isThrownBy(() -> this.orders.failing()).withMessage("fallback");
	}

	@ParameterizedTest
	@ValueSource(strings = { "missing", "otherParameters", "otherReturn", "itself", "otherGeneric" })
	void fallbackThatDoesNotFitFailsTheStart(String name) {
		assertThatIllegalStateException()
			.isThrownBy(() -> new RateLimitedMethods().find(ReflectionUtils.findMethod(Wrong.class, name, String.class),
					Wrong.class))
			.withMessageContaining("@RateLimited on Wrong." + name)
			.withMessageContaining("there is no fallbackMethod '")
			.withMessageContaining("the same parameters");
	}

	@Test
	void fallbackThatDoesNotFitIsDescribedWithoutAStackTrace() {
		new ApplicationContextRunner().withUserConfiguration(AopConfiguration.class)
			.withBean(Wrong.class)
			.run((context) -> {
				FailureAnalysis analysis = new InvalidAnnotationFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis.getDescription()).startsWith("@RateLimited on Wrong.")
					.contains("there is no fallbackMethod '");
				assertThat(analysis.getAction()).contains("docs/getting-started.md#in-a-controller");
			});
	}

	private void exhaust() {
		for (int i = 0; i < 3; i++) {
			this.orders.value("x");
		}
	}

	static class Orders {

		@RateLimited(policy = "orders", fallbackMethod = "busy")
		public String value(String id) {
			return "done " + id;
		}

		@RateLimited(policy = "orders", fallbackMethod = "plain")
		public String without(String id) {
			return "done " + id;
		}

		@RateLimited(policy = "orders", fallbackMethod = "busyStage")
		public CompletableFuture<String> stage(String id) {
			return CompletableFuture.completedFuture("done " + id);
		}

		@RateLimited(policy = "orders", fallbackMethod = "busyMono")
		public Mono<String> mono(String id) {
			return Mono.just("done " + id);
		}

		@RateLimited(policy = "orders", fallbackMethod = "busyFlux")
		public Flux<String> flux(String id) {
			return Flux.just("done", id);
		}

		@RateLimited(policy = "wide", fallbackMethod = "never")
		public String nested() {
			throw new RateLimitExceededException(
					Decision.without(Request.of("other"), 0, false, Decision.Outcome.REFUSED, Decision.Reason.LIMITS));
		}

		@RateLimited(policy = "orders", fallbackMethod = "fails")
		public String failing() {
			return "done";
		}

		private String busy(String id, RateLimitExceededException refusal) {
			return "busy " + id + " " + refusal.decision().policy();
		}

		private String plain(String id) {
			return "busy " + id;
		}

		private CompletableFuture<String> busyStage(String id, Throwable refusal) {
			return CompletableFuture.completedFuture(busy(id, (RateLimitExceededException) refusal));
		}

		private Mono<String> busyMono(String id, RuntimeException refusal) {
			return Mono.just(busy(id, (RateLimitExceededException) refusal));
		}

		private Flux<String> busyFlux(String id) {
			return Flux.just("busy", id);
		}

		private String never() {
			return "never";
		}

		private String fails() {
			throw new IllegalStateException("fallback");
		}

	}

	static class Wrong {

		@RateLimited(policy = "orders", fallbackMethod = "numbers")
		public Mono<String> otherGeneric(String id) {
			return Mono.just(id);
		}

		Mono<Integer> numbers(String id) {
			return Mono.just(1);
		}

		@RateLimited(policy = "orders", fallbackMethod = "nowhere")
		public String missing(String id) {
			return id;
		}

		@RateLimited(policy = "orders", fallbackMethod = "number")
		public String otherParameters(String id) {
			return id;
		}

		@RateLimited(policy = "orders", fallbackMethod = "returns")
		public String otherReturn(String id) {
			return id;
		}

		@RateLimited(policy = "orders", fallbackMethod = "itself")
		public String itself(String id) {
			return id;
		}

		public String number(int id) {
			return "";
		}

		public int returns(String id) {
			return 0;
		}

	}

}
