package dev.ratelimit.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockServletContext;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.ResultActions;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import dev.ratelimit.Dimension;
import dev.ratelimit.web.HttpAnswers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.asyncDispatch;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.header;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

class RateLimitedServletTests {

	private AnnotationConfigWebApplicationContext context;

	private MockMvc mvc;

	private RecordedLimiter limiter;

	@BeforeEach
	void start() {
		start(Application.class);
	}

	private void start(Class<?>... applications) {
		this.context = new AnnotationConfigWebApplicationContext();
		this.context.setServletContext(new MockServletContext());
		this.context.register(applications);
		this.context.refresh();
		this.mvc = MockMvcBuilders.webAppContextSetup(this.context).build();
		this.limiter = this.context.getBean(RecordedLimiter.class);
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/plain", "/stage", "/mono", "/flux", "/stream" })
	void allowedResponseTellsWhatIsLeft(String path) throws Exception {
		perform(get(path)).andExpect(status().isOk())
			.andExpect(header().string("X-RateLimit-Limit", "3"))
			.andExpect(header().string("X-RateLimit-Remaining", "2"))
			.andExpect(header().string("X-RateLimit-Policy", "orders"))
			.andExpect(header().exists("RateLimit"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/plain", "/stage", "/mono", "/flux", "/stream" })
	void refusedResponseIsAProblem(String path) throws Exception {
		exhaust();
		refused(perform(get(path)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/plain", "/stage", "/mono", "/flux", "/stream" })
	void decisionThatComesLaterIsObeyedToo(String path) throws Exception {
		exhaust();
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		refused(perform(get(path)));
	}

	@Test
	void callersFactsAreKnown() throws Exception {
		perform(get("/orders/17?size=2").principal(() -> "ann")).andExpect(status().isOk());
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.USER, "ann")
			.containsEntry(Dimension.IP, "127.0.0.1")
			.containsEntry(Dimension.ROUTE, "/orders/{id}")
			.containsEntry(new Dimension("key"), "17");
		assertThat(this.limiter.last().cost()).isEqualTo(2);
	}

	@Test
	void mostConstrainedOfSeveralChecksIsTold() throws Exception {
		perform(get("/nested")).andExpect(header().string("X-RateLimit-Policy", "orders"))
			.andExpect(header().string("X-RateLimit-Remaining", "2"));
	}

	@Test
	void refusalWithinTheHandlerIsAnsweredLikeItsOwnAndGivesBackNothingOfMethodsThatRan() throws Exception {
		long remaining = this.limiter.remaining("wide");
		exhaust();
		refused(perform(get("/nested")));
		assertThat(this.limiter.remaining("wide")).isEqualTo(remaining - 1);
	}

	@Test
	void failureModeAnswersInsteadOfA500() throws Exception {
		this.limiter.failWith(new IllegalStateException("broken"));
		perform(get("/plain")).andExpect(status().isOk())
			.andExpect(header().string("X-RateLimit-Policy", "degraded"))
			.andExpect(header().string("X-RateLimit-Remaining", "-1"));
		perform(get("/closed")).andExpect(status().isServiceUnavailable()).andExpect(header().exists("Retry-After"));
	}

	@Test
	void otherExceptionsAreLeftToTheApplication() throws Exception {
		perform(get("/fails")).andExpect(status().isInternalServerError()).andExpect(content().string("application's"));
	}

	@Test
	void exceptionHandlerOfTheControllerIsReached() throws Exception {
		exhaust();
		for (String path : List.of("/own", "/own-mono")) {
			perform(get(path)).andExpect(status().isIAmATeapot()).andExpect(content().string("own orders 429"));
		}
	}

	@Test
	void handlerForAllExceptionsInTheControllerDoesNotAnswerRefusals() throws Exception {
		exhaust();
		refused(perform(get("/caught")));
	}

	@Test
	void handlerInAnAdviceAnswersWhateverElseCatches() throws Exception {
		this.context.close();
		start(Application.class, OwnAdvice.class);
		exhaust();
		for (String path : List.of("/plain", "/mono", "/nested", "/caught")) {
			perform(get(path)).andExpect(status().isIAmATeapot()).andExpect(content().string("advice orders"));
		}
	}

	@Test
	void refusalIsAnErrorResponseWithTheSameAnswer() throws Exception {
		exhaust();
		perform(get("/error-response")).andExpect(status().isTooManyRequests())
			.andExpect(header().string("Retry-After", "20"))
			.andExpect(header().string("X-RateLimit-Policy", "orders"))
			.andExpect(jsonPath("$.title").value("Quota exceeded"))
			.andExpect(jsonPath("$.detail").value("Limit of 3 per 60 s exceeded for all callers"))
			.andExpect(jsonPath("$.type").value("https://iana.org/assignments/http-problem-types#quota-exceeded"))
			.andExpect(jsonPath("$.policy").value("orders"));
	}

	private void exhaust() throws Exception {
		perform(get("/exhaust")).andExpect(status().isOk());
	}

	private static void refused(ResultActions result) throws Exception {
		result.andExpect(status().isTooManyRequests())
			.andExpect(content().contentType("application/problem+json"))
			.andExpect(header().string("X-RateLimit-Remaining", "0"))
			.andExpect(header().string("X-RateLimit-Policy", "orders"))
			.andExpect(header().string("Retry-After", "20"))
			.andExpect(jsonPath("$.policy").value("orders"))
			.andExpect(jsonPath("$.status").value(429))
			.andExpect(jsonPath("$.traceId").value("trace-1"));
	}

	private ResultActions perform(MockHttpServletRequestBuilder request) throws Exception {
		ResultActions result = this.mvc.perform(request);
		MvcResult first = result.andReturn();
		if (!first.getRequest().isAsyncStarted()) {
			return result;
		}
		first.getAsyncResult(5_000);
		return this.mvc.perform(asyncDispatch(first));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	@Import({ AopConfiguration.class, Controller.class, Service.class, CatchAll.class, OwnHandler.class,
			CatchingController.class, ErrorResponses.class })
	static class Application {

		@Bean
		RateLimitedExceptionResolver exceptionResolver(HttpAnswers answers, ApplicationContext context) {
			Supplier<@Nullable String> traceId = () -> "trace-1";
			return new RateLimitedExceptionResolver(answers, traceId, context);
		}

	}

	static class Service {

		@RateLimited("orders")
		public String call() {
			return "done";
		}

	}

	@RestControllerAdvice
	static class CatchAll {

		@ExceptionHandler
		ResponseEntity<String> any(Exception ex) {
			return ResponseEntity.internalServerError().body("application's");
		}

	}

	@RestController
	static class Controller {

		private final Service service;

		Controller(Service service) {
			this.service = service;
		}

		@GetMapping("/plain")
		@RateLimited("orders")
		String plain() {
			return "done";
		}

		@GetMapping("/stage")
		@RateLimited("orders")
		CompletionStage<String> stage() {
			return CompletableFuture.completedStage("done");
		}

		@GetMapping("/mono")
		@RateLimited("orders")
		Mono<String> mono() {
			return Mono.just("done");
		}

		@GetMapping(path = "/flux", produces = MediaType.APPLICATION_JSON_VALUE)
		@RateLimited("orders")
		Flux<Integer> flux() {
			return Flux.just(1, 2, 3, 4);
		}

		@GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		@RateLimited("orders")
		Flux<Integer> stream() {
			return Flux.just(1, 2, 3, 4);
		}

		@GetMapping("/exhaust")
		@RateLimited(policy = "orders", cost = "3")
		String exhaust() {
			return "done";
		}

		@GetMapping("/nested")
		@RateLimited("wide")
		String nested() {
			return this.service.call();
		}

		@GetMapping("/closed")
		@RateLimited("closed")
		String closed() {
			return "done";
		}

		@GetMapping("/fails")
		@RateLimited("wide")
		String fails() {
			throw new IllegalStateException("own");
		}

		@GetMapping("/orders/{id}")
		@RateLimited(policy = "accounts", cost = "#size", key = "#id")
		String order(@PathVariable String id, @RequestParam int size) {
			return "done";
		}

	}

	@RestController
	static class OwnHandler {

		@GetMapping("/own")
		@RateLimited("orders")
		String own() {
			return "done";
		}

		@GetMapping("/own-mono")
		@RateLimited("orders")
		Mono<String> mono() {
			return Mono.just("done");
		}

		@ExceptionHandler
		ResponseEntity<String> refused(RateLimitErrorResponseException ex) {
			return ResponseEntity.status(418).body("own " + ex.decision().policy() + " " + ex.getStatusCode().value());
		}

	}

	@RestController
	static class CatchingController {

		@GetMapping("/caught")
		@RateLimited("orders")
		String caught() {
			return "done";
		}

		@ExceptionHandler
		ResponseEntity<String> any(RuntimeException ex) {
			return ResponseEntity.internalServerError().body("caught");
		}

	}

	@RestController
	static class ErrorResponses {

		@GetMapping("/error-response")
		@RateLimited("orders")
		String call() {
			return "done";
		}

		@ExceptionHandler
		ErrorResponse refused(RateLimitErrorResponseException ex) {
			return ex;
		}

	}

	@RestControllerAdvice
	static class OwnAdvice {

		@ExceptionHandler(RateLimitExceededException.class)
		ResponseEntity<String> refused(RateLimitExceededException ex) {
			return ResponseEntity.status(418).body("advice " + ex.decision().policy());
		}

	}

}
