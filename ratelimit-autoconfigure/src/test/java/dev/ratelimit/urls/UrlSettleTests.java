package dev.ratelimit.urls;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.aop.RateLimited;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The true cost of requests that URL entries and annotations limit, on all stacks. Each
 * test has a user of its own, with 1,000 permits; the estimate is 400.
 */
class UrlSettleTests {

	private static final String[] PROPERTIES = { "ratelimit.policies.chat.limits.per-user.by=user",
			"ratelimit.policies.chat.limits.per-user.quota=1000/h", "ratelimit.policies.chat.cost.estimate=400",
			"ratelimit.policies.chat.cost.settle-status.418=0", "ratelimit.policies.chat.cost.settle-status.5xx=7",
			"ratelimit.policies.chat.cost.settle-header=X-Tokens-Used",
			"ratelimit.policies.chat.cost.settle-json=usage.total_tokens", "ratelimit.urls.chat.path=/chat/**",
			"ratelimit.urls.chat.policy=chat", "spring.cloud.gateway.server.webflux.routes[2].id=chat",
			"spring.cloud.gateway.server.webflux.routes[2].uri=forward:///",
			"spring.cloud.gateway.server.webflux.routes[2].predicates[0]=Path=/chat/**" };

	private static final Map<UrlStack, ConfigurableApplicationContext> STARTED = new EnumMap<>(UrlStack.class);

	private final String user = UUID.randomUUID().toString();

	@AfterAll
	static void stop() {
		STARTED.values().forEach(ConfigurableApplicationContext::close);
		STARTED.clear();
	}

	static Stream<Arguments> answers() {
		return Stream.of(UrlStack.values())
			.flatMap((stack) -> Stream.of(Arguments.of(stack, "/chat/status", 0),
					Arguments.of(stack, "/chat/header", 5), Arguments.of(stack, "/chat/json", 123),
					Arguments.of(stack, "/chat/large", 321), Arguments.of(stack, "/chat/events", 42),
					Arguments.of(stack, "/chat/async", 123), Arguments.of(stack, "/chat/fails", 7),
					Arguments.of(stack, "/chat/nothing", 400), Arguments.of(stack, "/chat/empty", 6)));
	}

	@ParameterizedTest
	@MethodSource("answers")
	void responseNamesTheCostOfAUrlEntry(UrlStack stack, String path, long cost) {
		HttpResponse<String> response = get(stack, path);
		assertThat(response.headers().allValues("X-RateLimit-Remaining")).containsExactly("600");
		assertUsed(stack, cost);
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void responseNamesTheCostOfAnAnnotatedHandler(UrlStack stack) {
		assertThat(get(stack, "/limited/json").headers().allValues("X-RateLimit-Remaining")).containsExactly("600");
		assertUsed(stack, 123);
	}

	@ParameterizedTest
	@EnumSource
	void bodyArrivesWhole(UrlStack stack) {
		assertThat(get(stack, "/chat/json").body()).isEqualTo(Chat.USAGE);
		assertThat(get(stack, "/chat/large").body()).hasSize(Chat.large().length());
	}

	private void assertUsed(UrlStack stack, long cost) {
		await().untilAsserted(() -> assertThat(application(stack).getBean(RateLimiter.class)
			.check(Request.of("chat").with(Dimension.USER, this.user).withCost(0))
			.toCompletableFuture()
			.join()
			.remaining()).isEqualTo(1000 - cost));
	}

	private HttpResponse<String> get(UrlStack stack, String path) {
		return UrlStack.send(application(stack), "GET", path, "Authorization", "Bearer " + this.user);
	}

	private static ConfigurableApplicationContext application(UrlStack stack) {
		return STARTED.computeIfAbsent(stack, (absent) -> stack.start(List.of(Chat.class), PROPERTIES));
	}

	@RestController
	static class Chat {

		static final String USAGE = "{\"answer\": \"ü\", \"usage\": {\"total_tokens\": 123}}";

		@GetMapping("/chat/status")
		ResponseEntity<String> status() {
			return ResponseEntity.status(418).header("X-Tokens-Used", "9").body("teapot");
		}

		@GetMapping("/chat/header")
		ResponseEntity<String> header() {
			return ResponseEntity.ok().header("X-Tokens-Used", "5").header("X-RateLimit-Remaining", "77").body("hello");
		}

		@GetMapping("/chat/empty")
		ResponseEntity<Void> empty() {
			return ResponseEntity.noContent().header("X-Tokens-Used", "6").build();
		}

		@GetMapping(path = { "/chat/json" }, produces = "application/json")
		String json() {
			return USAGE;
		}

		@RateLimited("chat")
		@GetMapping(path = { "/limited/json" }, produces = "application/json")
		String limited() {
			return USAGE;
		}

		/** More than the buffer of a server. */
		@GetMapping(path = "/chat/large", produces = "application/json")
		String largeJson() {
			return large();
		}

		static String large() {
			return "{\"answer\": \"" + "x".repeat(100_000) + "\", \"usage\": {\"total_tokens\": 321}}";
		}

		@GetMapping(path = "/chat/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<String> events() {
			List<String> events = new ArrayList<>(List.of("{\"a\": 1}", "{\"usage\": {\"total_tokens\": 42}}"));
			return Flux.fromIterable(events);
		}

		@GetMapping(path = "/chat/async", produces = "application/json")
		CompletionStage<String> async() {
			return CompletableFuture.supplyAsync(() -> USAGE);
		}

		@GetMapping("/chat/fails")
		String fails() {
			throw new IllegalStateException("fails");
		}

		@GetMapping("/chat/nothing")
		String nothing() {
			return "hello";
		}

	}

}
