package dev.ratelimit.aop;

import java.security.Principal;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.WebFilter;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import dev.ratelimit.Dimension;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every request runs on a thread that must not block, under the eyes of BlockHound where
 * it can be had.
 */
class RateLimitedWebFluxTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
			Application.class);

	private final WebTestClient client = WebTestClient.bindToApplicationContext(this.context).build();

	private final RecordedLimiter limiter = this.context.getBean(RecordedLimiter.class);

	@BeforeAll
	static void watch() {
		BlockHound.install();
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void blockingCallsAreSeen() {
		get("/blocking").expectStatus().is5xxServerError().expectBody(String.class).isEqualTo("BlockingOperationError");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/mono", "/flux", "/function" })
	void allowedResponseTellsWhatIsLeft(String path) {
		get(path).expectStatus()
			.isOk()
			.expectHeader()
			.valueEquals("X-RateLimit-Limit", "3")
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "2")
			.expectHeader()
			.valueEquals("X-RateLimit-Policy", "orders")
			.expectHeader()
			.exists("RateLimit");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/mono", "/flux", "/function", "/nested" })
	void refusedResponseIsAProblem(String path) {
		exhaust();
		refused(get(path));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/mono", "/flux", "/function", "/nested" })
	void decisionThatComesLaterIsObeyedToo(String path) {
		exhaust();
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		refused(get(path));
	}

	@Test
	void callersFactsAreKnown() {
		get("/orders/17?size=2").expectStatus().isOk();
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.USER, "ann")
			.containsEntry(Dimension.ROUTE, "/orders/{id}")
			.containsEntry(new Dimension("key"), "17");
		assertThat(this.limiter.last().cost()).isEqualTo(2);
	}

	@Test
	void headersReplaceTheHandlers() {
		get("/own-headers").expectHeader().valueEquals("X-RateLimit-Limit", "3");
	}

	@Test
	void mostConstrainedOfSeveralChecksIsTold() {
		get("/nested").expectHeader()
			.valueEquals("X-RateLimit-Policy", "orders")
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "2");
		assertThat(this.limiter.requests()).extracting("policy").containsExactly("wide", "orders");
	}

	@Test
	void refusalWithinTheHandlerGivesBackNothingOfMethodsThatRan() {
		long remaining = this.limiter.remaining("wide");
		exhaust();
		refused(get("/nested"));
		assertThat(this.limiter.remaining("wide")).isEqualTo(remaining - 1);
	}

	@Test
	void failureModeAnswersInsteadOfA500() {
		this.limiter.failWith(new IllegalStateException("broken"));
		get("/mono").expectStatus().isOk().expectHeader().valueEquals("X-RateLimit-Policy", "degraded");
		get("/closed").expectStatus().isEqualTo(503).expectHeader().exists("Retry-After");
	}

	@Test
	void callerThatCannotBeIdentifiedIsLimitedLikeOneWithoutIdentity() {
		this.client.get().uri("/mono").header("X-Test", "principal-fails").exchange().expectStatus().isOk();
		assertThat(this.limiter.failures()).isEmpty();
		assertThat(this.limiter.last().unresolved().dimensions()).containsOnly(Dimension.USER, Dimension.TENANT);
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.ROUTE, "/mono");
	}

	@Test
	void otherExceptionsAreLeftToTheApplication() {
		get("/fails").expectStatus().is5xxServerError().expectBody(String.class).isEqualTo("IllegalStateException");
	}

	private WebTestClient.ResponseSpec get(String uri) {
		return this.client.get().uri(uri).exchange();
	}

	private void exhaust() {
		get("/exhaust").expectStatus().isOk();
	}

	private static void refused(WebTestClient.ResponseSpec response) {
		response.expectStatus()
			.isEqualTo(429)
			.expectHeader()
			.valueEquals("Content-Type", "application/problem+json")
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "0")
			.expectHeader()
			.valueEquals("X-RateLimit-Policy", "orders")
			.expectHeader()
			.valueEquals("Retry-After", "20")
			.expectBody()
			.jsonPath("$.policy")
			.isEqualTo("orders")
			.jsonPath("$.status")
			.isEqualTo(429)
			.jsonPath("$.traceId")
			.isEqualTo("trace-1");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebFlux
	@Import({ AopConfiguration.class, Controller.class, Service.class, CatchAll.class })
	static class Application {

		@Bean
		CurrentCall.Source currentCall() {
			return ExchangeCurrentCall.SOURCE;
		}

		@Bean
		ExchangeContextWebFilter exchangeContextFilter() {
			return new ExchangeContextWebFilter();
		}

		@Bean
		RateLimitedWebExceptionHandler exceptionHandler(HttpAnswers answers, RecordedTraces traces,
				ApplicationContext context) {
			return new RateLimitedWebExceptionHandler(answers, traces, context);
		}

		@Bean
		@Order(-100)
		WebFilter authentication() {
			return (exchange, chain) -> {
				boolean fails = exchange.getRequest().getHeaders().getFirst("X-Test") != null;
				Mono<Principal> ann = fails ? Mono.error(new IllegalStateException("secret")) : Mono.just(() -> "ann");
				return chain.filter(exchange.mutate().principal(ann).build());
			};
		}

		@Bean
		RouterFunction<ServerResponse> function(Service service) {
			return RouterFunctions.route()
				.GET("/function", (request) -> service.call().flatMap((done) -> ServerResponse.ok().bodyValue(done)))
				.build();
		}

	}

	static class Service {

		@RateLimited("orders")
		public Mono<String> call() {
			return Mono.just("done");
		}

	}

	@RestControllerAdvice
	static class CatchAll {

		@ExceptionHandler
		ResponseEntity<String> any(Throwable ex) {
			return ResponseEntity.internalServerError().body(ex.getClass().getSimpleName());
		}

	}

	@RestController
	static class Controller {

		private final Service service;

		Controller(Service service) {
			this.service = service;
		}

		@GetMapping("/mono")
		@RateLimited("orders")
		Mono<String> mono() {
			return Mono.just("done");
		}

		@GetMapping("/flux")
		@RateLimited("orders")
		Flux<Integer> flux() {
			return Flux.just(1, 2, 3, 4);
		}

		@GetMapping("/blocking")
		Mono<String> blocking() {
			return Mono.fromCallable(() -> {
				// Not to wait for anything: what BlockHound has to catch.
				LockSupport.parkNanos(1);
				return "not seen";
			});
		}

		@GetMapping("/own-headers")
		@RateLimited("orders")
		Mono<ResponseEntity<String>> ownHeaders() {
			return Mono.just(ResponseEntity.ok().header("X-RateLimit-Limit", "own").body("done"));
		}

		@GetMapping("/exhaust")
		@RateLimited(policy = "orders", cost = "3")
		Mono<String> exhaust() {
			return Mono.just("done");
		}

		@GetMapping("/nested")
		@RateLimited("wide")
		Mono<String> nested() {
			return this.service.call();
		}

		@GetMapping("/closed")
		@RateLimited("closed")
		Mono<String> closed() {
			return Mono.just("done");
		}

		@GetMapping("/fails")
		@RateLimited("wide")
		Mono<String> fails() {
			return Mono.error(new IllegalStateException("own"));
		}

		@GetMapping("/orders/{id}")
		@RateLimited(policy = "accounts", cost = "#size", key = "#id")
		Mono<String> order(@PathVariable String id, @RequestParam int size) {
			return Mono.just("done");
		}

	}

}
