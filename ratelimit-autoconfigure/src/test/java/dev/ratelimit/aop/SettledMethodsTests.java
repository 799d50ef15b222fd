package dev.ratelimit.aop;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Methods with the annotation that settle their true cost, on both stacks.
 */
class SettledMethodsTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void methodSettlesByTheDecisionThatItIsGiven(WebApplicationType type) throws Exception {
		try (ConfigurableApplicationContext context = run(type)) {
			long left = 1_000;
			for (String path : new String[] { "/value", "/stage", "/mono", "/flux", "/service" }) {
				left -= 7;
				assertThat(get(context, path + "?tokens=7&allowed=false&policy=other").statusCode()).isEqualTo(200);
				long expected = left;
				await().atMost(LONG).untilAsserted(() -> assertThat(remaining(context)).as(path).isEqualTo(expected));
			}
		}
	}

	@Test
	void statusAndHeaderSettleHandlersOfWebFlux() throws Exception {
		try (ConfigurableApplicationContext context = run(WebApplicationType.REACTIVE)) {
			get(context, "/header");
			await().atMost(LONG).untilAsserted(() -> assertThat(remaining(context)).isEqualTo(958));
			get(context, "/missing");
			await().atMost(LONG).untilAsserted(() -> assertThat(remaining(context)).isEqualTo(957));
		}
	}

	private static long remaining(ConfigurableApplicationContext context) {
		return join(context.getBean(RateLimiter.class).check(Request.of("llm").withCost(0))).remaining();
	}

	private static HttpResponse<String> get(ConfigurableApplicationContext context, String path) throws Exception {
		int port = Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
					HttpResponse.BodyHandlers.ofString());
	}

	private static ConfigurableApplicationContext run(WebApplicationType type) {
		return new SpringApplicationBuilder(Application.class).web(type)
			.run("--server.port=0", "--ratelimit.backend=memory", "--ratelimit.policies-store.type=none",
					"--spring.cloud.gateway.enabled=false", "--spring.cloud.gateway.server.webflux.enabled=false",
					"--spring.autoconfigure.exclude=org.springframework.cloud.gateway.config.GatewayRedisAutoConfiguration",
					"--ratelimit.policies.llm.limits.all.by=", "--ratelimit.policies.llm.limits.all.quota=1000/30d",
					"--ratelimit.policies.llm.cost.estimate=400",
					"--ratelimit.policies.llm.cost.settle-header=X-Tokens-Used",
					"--ratelimit.policies.llm.cost.settle-status.404=1");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { R2dbcAutoConfiguration.class, SecurityAutoConfiguration.class,
					ReactiveSecurityAutoConfiguration.class },
			excludeName = {
					"org.springframework.boot.actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration",
					"org.springframework.boot.actuate.autoconfigure.security.reactive.ReactiveManagementWebSecurityAutoConfiguration" })
	static class Application {

		@Bean
		Service service() {
			return new Service();
		}

		@Bean
		Controller controller(Service service) {
			return new Controller(service);
		}

	}

	static class Service {

		@RateLimited("llm")
		public String call(long tokens, Decision decision) {
			decision.settle(tokens);
			return "done";
		}

	}

	@RestController
	static class Controller {

		private final Service service;

		Controller(Service service) {
			this.service = service;
		}

		@GetMapping("/value")
		@RateLimited("llm")
		public String value(Decision decision, @RequestParam long tokens) {
			decision.settle(tokens);
			return "done";
		}

		@GetMapping("/stage")
		@RateLimited("llm")
		public CompletionStage<String> stage(@RequestParam long tokens, Decision decision) {
			return decision.settle(tokens).thenCompose((outcome) -> CompletableFuture.completedStage("done"));
		}

		@GetMapping("/mono")
		@RateLimited("llm")
		public Mono<String> mono(@RequestParam long tokens, Decision decision) {
			return Mono.fromCompletionStage(decision.settle(tokens)).thenReturn("done");
		}

		@GetMapping("/flux")
		@RateLimited("llm")
		public Flux<String> flux(@RequestParam long tokens, Decision decision) {
			return Flux.just("do", "ne").doOnComplete(() -> decision.settle(tokens));
		}

		@GetMapping("/service")
		public String service(@RequestParam long tokens) {
			return this.service.call(tokens, null);
		}

		@GetMapping("/header")
		@RateLimited("llm")
		public Mono<ResponseEntity<String>> header() {
			return Mono.just(ResponseEntity.ok().header("X-Tokens-Used", "42").body("done"));
		}

		@GetMapping("/missing")
		@RateLimited("llm")
		public Mono<ResponseEntity<String>> missing() {
			return Mono.just(ResponseEntity.notFound().build());
		}

	}

}
