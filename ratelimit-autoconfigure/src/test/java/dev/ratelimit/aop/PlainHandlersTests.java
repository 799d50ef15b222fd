package dev.ratelimit.aop;

import java.beans.PropertyEditorSupport;
import java.security.Principal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurationSupport;
import org.springframework.web.server.WebFilter;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import dev.ratelimit.Dimension;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Handlers on WebFlux that are no publishers, called on a thread that must not block and
 * under the eyes of BlockHound.
 */
class PlainHandlersTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private WebTestClient client;

	private RecordedLimiter limiter;

	@BeforeAll
	static void watch() throws ClassNotFoundException {
		// Kotlin reads a file when this class is initialized.
		Class.forName("kotlinx.coroutines.reactive.ReactiveFlowKt");
		BlockHound.install();
	}

	private void start(Class<?>... more) {
		this.context.register(Application.class, Controller.class, SuspendingController.class);
		Stream.of(more).forEach(this.context::register);
		this.context.refresh();
		this.client = WebTestClient.bindToApplicationContext(this.context).build();
		this.limiter = this.context.getBean(RecordedLimiter.class);
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/plain", "/entity", "/entity-flux", "/void", "/stage", "/primitive", "/suspend", "/flow",
			"/suspend-flow", "/kotlin", "/inherited" })
	void allowedResponseTellsWhatIsLeft(String path) {
		start();
		get(path).expectStatus()
			.isOk()
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "2")
			.expectHeader()
			.valueEquals("X-RateLimit-Policy", "orders");
		assertThat(this.limiter.requests()).hasSize(1);
		assertThat(this.limiter.failures()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/plain", "/entity", "/entity-flux", "/void", "/stage", "/primitive", "/suspend", "/flow",
			"/suspend-flow", "/kotlin", "/inherited" })
	void handlerBeyondTheLimitIsNotCalled(String path) {
		start();
		exhaust();
		int calls = Controller.calls;
		refused(get(path));
		assertThat(Controller.calls).isEqualTo(calls);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/plain", "/entity", "/entity-flux", "/void", "/stage", "/primitive", "/suspend", "/flow",
			"/suspend-flow", "/kotlin" })
	void decisionThatComesLaterIsObeyed(String path) {
		start(CatchAll.class);
		exhaust();
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		refused(get(path));
		assertThat(this.limiter.failures()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/orders/17?size=2", "/suspend/17?size=2", "/stages/17?size=2" })
	void callersFactsAreKnown(String path) {
		start();
		get(path).expectStatus().isOk();
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.USER, "ann")
			.containsEntry(new Dimension("key"), "17")
			.containsKey(Dimension.ROUTE);
		assertThat(this.limiter.last().cost()).isEqualTo(2);
		assertThat(this.limiter.failures()).isEmpty();
	}

	@Test
	void handlerWithExpressionsWaitsOnAThreadThatMayBlock() {
		start();
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		get("/orders/17?size=2").expectStatus()
			.isOk()
			.expectBody(String.class)
			.value((thread) -> assertThat(thread).startsWith("boundedElastic"));
		get("/orders/17?size=2").expectStatus().isEqualTo(429);
	}

	@Test
	void bodyThatIsAnArgumentIsReadFirst() {
		start();
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		this.client.post().uri("/bulk").bodyValue(List.of("a", "b")).exchange().expectStatus().isOk();
		assertThat(this.limiter.last().cost()).isEqualTo(2);
	}

	@Test
	void otherHandlersStayOnTheThreadOfTheServer() {
		start();
		get("/thread").expectBody(String.class).value((thread) -> assertThat(thread).startsWith("parallel"));
		get("/limited-thread").expectBody(String.class).value((thread) -> assertThat(thread).startsWith("parallel"));
	}

	@Test
	void executorOfTheApplicationIsUsedAsItSays() {
		start(OwnExecutor.class);
		for (String path : List.of("/thread", "/orders/17?size=1")) {
			get(path).expectBody(String.class).value((thread) -> assertThat(thread).startsWith("own-"));
		}
	}

	@Test
	void handlersThatTheApplicationDoesNotMoveStayAndOursAreMoved() {
		start(OwnPredicate.class);
		get("/thread").expectBody(String.class).value((thread) -> assertThat(thread).startsWith("own-"));
		get("/limited-thread").expectBody(String.class).value((thread) -> assertThat(thread).startsWith("parallel"));
		get("/orders/17?size=1").expectBody(String.class).value((thread) -> assertThat(thread).startsWith("own-"));
	}

	@Test
	void expressionsWithAnAdapterThatCannotBeReadFailTheStart() {
		this.context.register(Base.class, OwnWebFlux.class, Controller.class);
		assertThatIllegalStateException().isThrownBy(this.context::refresh)
			.withMessageContaining("@RateLimited on Controller.")
			.withMessageContaining("return a Mono or a Flux");
	}

	@Test
	void exceptionHandlerOfTheControllerIsReached() {
		start(OwnHandler.class);
		exhaust();
		get("/own").expectStatus().isEqualTo(418).expectBody(String.class).isEqualTo("own orders 429");
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		get("/own").expectStatus().isEqualTo(418);
		get("/own-expression?size=1").expectStatus().isEqualTo(418);
		get("/own-mono").expectStatus().isEqualTo(418);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/caught", "/caught-expression?size=1", "/caught-mono", "/caught-stage", "/caught-nested",
			"/caught-primitive", "/caught-response" })
	void handlerForAllExceptionsInTheControllerDoesNotAnswerRefusals(String path) {
		start(CatchingController.class);
		exhaust();
		refused(get(path));
		get("/caught-other").expectStatus().isEqualTo(500).expectBody(String.class).isEqualTo("caught");
	}

	@Test
	void handlerInAnAdviceAnswersWhateverElseCatches() {
		start(CatchingController.class, CatchAll.class, OwnAdvice.class);
		exhaust();
		for (String path : List.of("/plain", "/suspend", "/entity-flux", "/caught", "/caught-mono", "/caught-nested",
				"/caught-expression?size=1")) {
			get(path).expectStatus().isEqualTo(418).expectBody(String.class).isEqualTo("advice orders");
		}
	}

	@Test
	void nestedPlainCallKnowsTheCaller() {
		start();
		get("/nested").expectStatus().isOk();
		assertThat(this.limiter.requests()).extracting("policy").containsExactly("wide", "users");
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.USER, "ann");
	}

	@Test
	void nestedCallKnowsTheCallerInTheBodyOfAStageThatWasDecidedLater() {
		start(Nesting.class);
		this.limiter.answerOn(Schedulers.boundedElastic()::schedule);
		get("/nesting-stage").expectStatus().isOk();
		assertThat(this.limiter.requests()).extracting("policy").containsExactly("wide", "users");
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.USER, "ann");
	}

	@ParameterizedTest
	@ValueSource(strings = { "plain", "mono", "mono-of-stage" })
	void callerOfANestedCallThatIsNotKnownIsAnsweredByTheFailureMode(String path) {
		start(Nesting.class);
		for (String policy : List.of("users", "users-or-free")) {
			get("/nesting-" + path + "/" + policy).expectStatus().isOk();
		}
		assertThat(this.limiter.requests()).isEmpty();
		assertThat(this.limiter.failures()).hasSize(2);
		get("/nesting-" + path + "/users-closed").expectStatus().isEqualTo(503);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/nesting-plain/orders", "/nesting-mono/orders" })
	void nestedCallWhoseLimitsNeedNoCallerIsDecided(String path) {
		start(Nesting.class);
		get(path).expectStatus().isOk();
		assertThat(this.limiter.last().policy()).isEqualTo("orders");
		exhaust();
		get(path).expectStatus().isEqualTo(429);
		assertThat(this.limiter.failures()).isEmpty();
	}

	@Test
	void nestedCallThatIsCountedByItsArgumentIsDecided() {
		start(Nesting.class);
		get("/nesting-mono/accounts").expectStatus().isOk();
		assertThat(this.limiter.last().dimensions()).containsEntry(new Dimension("key"), "17");
		assertThat(this.limiter.failures()).isEmpty();
	}

	@Test
	void methodsOfAControllerThatServeItsHandlersHaveItsFields() {
		start(FreeController.class);
		get("/free?text=a").expectStatus().isOk().expectBody(String.class).isEqualTo("model bound");
		get("/free-fails").expectStatus().isEqualTo(500).expectBody(String.class).isEqualTo("handled");
	}

	@Test
	void methodsThatServeLimitedHandlersAreCalledOnTheController() {
		start(ServedController.class);
		get("/served?text=a").expectStatus().isOk().expectBody(String.class).isEqualTo("model bound");
		get("/served-fails").expectStatus().isEqualTo(500).expectBody(String.class).isEqualTo("handled");
	}

	@Test
	void controllerThatNoProxyCanStandForIsLeftAloneIfNothingIsLimited() {
		start(ClosedController.class);
		get("/unproxied").expectStatus().isOk().expectBody(String.class).isEqualTo("done");
		get("/unproxied-fails").expectStatus().isEqualTo(500).expectBody(String.class).isEqualTo("handled");
	}

	@Test
	void principalIsNotAskedForWhereNothingIsLimited() {
		start(CatchingController.class);
		int before = Base.principals.get();
		get("/caught-nested").expectStatus().isOk();
		assertThat(Base.principals).hasValue(before);
	}

	@Test
	void nothingOfACallIsLeftOnItsThread() {
		start();
		get("/plain").expectStatus().isOk();
		get("/stage").expectStatus().isOk();
		for (int i = 0; i < Schedulers.DEFAULT_POOL_SIZE; i++) {
			assertThat(Mono.fromSupplier(() -> ExchangeCurrentCall.find() == null)
				.subscribeOn(Schedulers.parallel())
				.block()).isTrue();
		}
	}

	@Test
	void callerThatCannotBeIdentifiedIsLimitedLikeOneWithoutIdentity() {
		start();
		this.client.get().uri("/plain").header("X-Test", "principal-fails").exchange().expectStatus().isOk();
		assertThat(this.limiter.failures()).isEmpty();
		assertThat(this.limiter.last().unresolved().dimensions()).containsOnly(Dimension.USER, Dimension.TENANT);
		assertThat(this.limiter.last().dimensions()).containsEntry(Dimension.ROUTE, "/plain");
	}

	@Test
	void failureModeAnswersInsteadOfA500() {
		start();
		this.limiter.failWith(new IllegalStateException("broken"));
		get("/plain").expectStatus().isOk().expectHeader().valueEquals("X-RateLimit-Policy", "degraded");
		get("/closed").expectStatus().isEqualTo(503).expectHeader().exists("Retry-After");
	}

	@Test
	void decisionIsToldToTheTraceOnce() {
		start();
		exhaust();
		get("/plain").expectStatus().isEqualTo(429);
		assertThat(this.context.getBean(RecordedTraces.class).told()).hasSize(4);
	}

	private WebTestClient.ResponseSpec get(String uri) {
		return this.client.get().uri(uri).exchange();
	}

	private void exhaust() {
		for (int i = 0; i < 3; i++) {
			get("/exhaust");
		}
	}

	private static void refused(WebTestClient.ResponseSpec response) {
		response.expectStatus()
			.isEqualTo(429)
			.expectHeader()
			.valueEquals("Content-Type", "application/problem+json")
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "0")
			.expectHeader()
			.valueEquals("Retry-After", "20")
			.expectBody()
			.jsonPath("$.policy")
			.isEqualTo("orders");
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ AopConfiguration.class, Service.class })
	static class Base {

		static final AtomicInteger principals = new AtomicInteger();

		@Bean
		CurrentCall.Source currentCall() {
			return ExchangeCurrentCall.SOURCE;
		}

		@Bean
		ExchangeContextWebFilter exchangeContextFilter() {
			return new ExchangeContextWebFilter();
		}

		@Bean
		RateLimitedWebExceptionHandler exceptionHandler(HttpAnswers answers, CallTrace.Source traces,
				ApplicationContext context) {
			return new RateLimitedWebExceptionHandler(answers, traces, context);
		}

		@Bean
		static BlockingHandlers blockingHandlers(ConfigurableListableBeanFactory beans) {
			return new BlockingHandlers(beans);
		}

		@Bean
		RateLimitedHandlerAdapter handlerAdapter(RateLimitedMethods methods, RateLimitedAspect aspect,
				CallTrace.Source traces, RateLimitedWebExceptionHandler refusals, BlockingHandlers blocking,
				ApplicationContext context) {
			return new RateLimitedHandlerAdapter(methods, aspect, traces, refusals, blocking, context);
		}

		@Bean
		@Order(-100)
		WebFilter authentication() {
			return (exchange, chain) -> {
				boolean fails = exchange.getRequest().getHeaders().getFirst("X-Test") != null;
				Mono<Principal> ann = Mono.fromCallable(() -> {
					principals.incrementAndGet();
					if (fails) {
						throw new IllegalStateException("secret");
					}
					return () -> "ann";
				});
				return chain.filter(exchange.mutate().principal(ann).build());
			};
		}

		/** As the event loop of a server would. */
		@Bean
		@Order(-200)
		WebFilter serverThread() {
			return (exchange, chain) -> chain.filter(exchange).subscribeOn(Schedulers.parallel());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebFlux
	@Import(Base.class)
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnWebFlux extends WebFluxConfigurationSupport {

	}

	static class OwnExecutor implements WebFluxConfigurer {

		private final ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();

		OwnExecutor() {
			this.executor.setThreadNamePrefix("own-");
			this.executor.setDaemon(true);
			this.executor.initialize();
		}

		@Override
		public void configureBlockingExecution(BlockingExecutionConfigurer configurer) {
			configurer.setExecutor(this.executor);
		}

	}

	static class OwnPredicate extends OwnExecutor {

		@Override
		public void configureBlockingExecution(BlockingExecutionConfigurer configurer) {
			super.configureBlockingExecution(configurer);
			configurer.setControllerMethodPredicate((handler) -> handler.getMethod().getName().equals("thread"));
		}

	}

	static class Service {

		@RateLimited("users")
		public String call() {
			return "done";
		}

		@RateLimited("orders")
		public String orders() {
			return "done";
		}

		@RateLimited("users-or-free")
		public String orFree() {
			return "done";
		}

		@RateLimited("users-closed")
		public String closed() {
			return "done";
		}

		@RateLimited(policy = "accounts", key = "#account")
		public String account(int account) {
			return "done";
		}

		@RateLimited("users")
		public CompletableFuture<String> stage() {
			return CompletableFuture.completedFuture("done");
		}

		@RateLimited("users-or-free")
		public CompletableFuture<String> stageOrFree() {
			return stage();
		}

		@RateLimited("users-closed")
		public CompletableFuture<String> closedStage() {
			return stage();
		}

	}

	static class Parent {

		@GetMapping("/inherited")
		@RateLimited("orders")
		public String inherited() {
			return "done";
		}

	}

	@RestController
	static class Controller extends Parent {

		static volatile int calls;

		private final Service service;

		Controller(Service service) {
			this.service = service;
		}

		@GetMapping("/plain")
		@RateLimited("orders")
		String plain() {
			return done();
		}

		@GetMapping("/entity")
		@RateLimited("orders")
		public ResponseEntity<String> entity() {
			return ResponseEntity.ok(done());
		}

		@GetMapping("/entity-flux")
		@RateLimited("orders")
		ResponseEntity<Flux<String>> entityFlux() {
			return ResponseEntity.ok(Flux.just(done()));
		}

		@GetMapping("/void")
		@RateLimited("orders")
		protected void nothing() {
			done();
		}

		@GetMapping("/primitive")
		@RateLimited("orders")
		int primitive() {
			return done().length();
		}

		@GetMapping("/stage")
		@RateLimited("orders")
		CompletionStage<String> stage() {
			return CompletableFuture.completedStage(done());
		}

		@GetMapping("/exhaust")
		@RateLimited("orders")
		String exhaust() {
			return "done";
		}

		@GetMapping("/closed")
		@RateLimited("closed")
		String closed() {
			return "done";
		}

		@GetMapping("/nested")
		@RateLimited("wide")
		String nested() {
			return this.service.call();
		}

		@GetMapping("/thread")
		String thread() {
			return Thread.currentThread().getName();
		}

		@GetMapping("/limited-thread")
		@RateLimited("wide")
		String limitedThread() {
			return Thread.currentThread().getName();
		}

		@GetMapping("/orders/{id}")
		@RateLimited(policy = "accounts", cost = "#size", key = "#id")
		String order(@PathVariable String id, @RequestParam int size) {
			return Thread.currentThread().getName();
		}

		@GetMapping("/stages/{id}")
		@RateLimited(policy = "accounts", cost = "#size", key = "#id")
		CompletionStage<String> stages(@PathVariable String id, @RequestParam int size) {
			return CompletableFuture.completedStage("done");
		}

		@PostMapping("/bulk")
		@RateLimited(policy = "orders", cost = "#ids.size()")
		void bulk(@RequestBody List<String> ids) {
		}

		private static String done() {
			calls++;
			return "done";
		}

	}

	@RestController
	static class OwnHandler {

		private final String name = "own ";

		@GetMapping("/own")
		@RateLimited("orders")
		String own() {
			return "done";
		}

		@GetMapping("/own-expression")
		@RateLimited(policy = "orders", cost = "#size")
		String expression(@RequestParam int size) {
			return "done";
		}

		@GetMapping("/own-mono")
		@RateLimited("orders")
		Mono<String> mono() {
			return Mono.just("done");
		}

		@ExceptionHandler
		ResponseEntity<String> refused(RateLimitErrorResponseException ex) {
			return ResponseEntity.status(418)
				.body(this.name + ex.decision().policy() + " " + ex.getStatusCode().value());
		}

	}

	@RestController
	static class CatchingController {

		private final Service service;

		CatchingController(Service service) {
			this.service = service;
		}

		@GetMapping("/caught")
		@RateLimited("orders")
		String caught() {
			return "done";
		}

		@GetMapping("/caught-expression")
		@RateLimited(policy = "orders", cost = "#size")
		String expression(@RequestParam int size) {
			return "done";
		}

		@GetMapping("/caught-mono")
		@RateLimited("orders")
		Mono<String> mono() {
			return Mono.just("done");
		}

		@GetMapping("/caught-stage")
		@RateLimited("orders")
		CompletionStage<String> stage() {
			return CompletableFuture.completedStage("done");
		}

		@GetMapping("/caught-nested")
		String nested() {
			return this.service.orders();
		}

		@GetMapping("/caught-primitive")
		int primitive() {
			return this.service.orders().length();
		}

		@GetMapping("/caught-response")
		void response(ServerHttpResponse response) {
			this.service.orders();
		}

		@GetMapping("/caught-other")
		String other() {
			throw new IllegalStateException("own");
		}

		@ExceptionHandler
		ResponseEntity<String> any(RuntimeException ex) {
			return ResponseEntity.internalServerError().body("caught");
		}

	}

	@RestController
	static class Nesting {

		private final Service service;

		Nesting(Service service) {
			this.service = service;
		}

		@GetMapping("/nesting-plain/{policy}")
		String plain(@PathVariable String policy) {
			return call(policy);
		}

		@GetMapping("/nesting-mono/{policy}")
		Mono<String> mono(@PathVariable String policy) {
			return Mono.just(policy).map(this::call);
		}

		@GetMapping("/nesting-mono-of-stage/{policy}")
		Mono<String> monoOfStage(@PathVariable String policy) {
			return Mono.just(policy)
				.flatMap((any) -> Mono.fromFuture(any.equals("users") ? this.service.stage()
						: any.equals("users-closed") ? this.service.closedStage() : this.service.stageOrFree()));
		}

		@GetMapping("/nesting-stage")
		@RateLimited("wide")
		CompletionStage<String> stage() {
			return CompletableFuture.completedStage(this.service.call());
		}

		private String call(String policy) {
			return switch (policy) {
				case "users" -> this.service.call();
				case "users-or-free" -> this.service.orFree();
				case "users-closed" -> this.service.closed();
				case "accounts" -> this.service.account(17);
				default -> this.service.orders();
			};
		}

	}

	/** Nothing of it is limited. */
	@RestController
	static class FreeController {

		private final String text = new String("bound");

		@GetMapping("/free")
		String free(@ModelAttribute("model") String model, @RequestParam Integer text) {
			return model + " " + this.text;
		}

		@GetMapping("/free-fails")
		String fails() {
			throw new IllegalStateException("own");
		}

		@InitBinder
		private void bind(WebDataBinder binder) {
			binder.registerCustomEditor(Integer.class, new Length(this.text.length()));
		}

		@ModelAttribute("model")
		private String model() {
			return this.text.replace("bound", "model");
		}

		@ExceptionHandler
		private ResponseEntity<String> any(Exception ex) {
			return ResponseEntity.internalServerError().body(this.text.replace("bound", "handled"));
		}

	}

	@RestController
	static class ServedController {

		private final String text = new String("bound");

		@GetMapping("/served")
		@RateLimited("wide")
		String served(@ModelAttribute("model") String model, @RequestParam Integer text) {
			return model + " " + this.text;
		}

		@GetMapping("/served-fails")
		@RateLimited("wide")
		String fails() {
			throw new IllegalStateException("own");
		}

		@InitBinder
		void bind(WebDataBinder binder) {
			binder.registerCustomEditor(Integer.class, new Length(this.text.length()));
		}

		@ModelAttribute("model")
		String model() {
			return this.text.replace("bound", "model");
		}

		@ExceptionHandler
		ResponseEntity<String> any(Exception ex) {
			return ResponseEntity.internalServerError().body(this.text.replace("bound", "handled"));
		}

	}

	/** Without a constructor that a subclass could call. */
	@RestController
	static class ClosedController {

		private final String text = new String("done");

		private ClosedController() {
		}

		@GetMapping("/unproxied")
		String free() {
			return this.text;
		}

		@GetMapping("/unproxied-fails")
		String fails() {
			throw new IllegalStateException("own");
		}

		@ExceptionHandler
		ResponseEntity<String> any(Exception ex) {
			return ResponseEntity.internalServerError().body("handled");
		}

	}

	static class Length extends PropertyEditorSupport {

		private final int length;

		Length(int length) {
			this.length = length;
		}

		@Override
		public void setAsText(String text) {
			setValue(this.length);
		}

	}

	@RestControllerAdvice
	static class CatchAll {

		@ExceptionHandler
		ResponseEntity<String> any(Throwable ex) {
			return ResponseEntity.internalServerError().body(ex.getClass().getSimpleName());
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
