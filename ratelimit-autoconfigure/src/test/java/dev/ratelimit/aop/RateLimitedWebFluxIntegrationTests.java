package dev.ratelimit.aop;

import java.util.List;
import java.util.function.Consumer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.ReactiveWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableReactiveWebApplicationContext;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.reactive.context.AnnotationConfigReactiveWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.metrics.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * {@link RateLimited} in a WebFlux application on Netty and Redis, as Boot configures it.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class RateLimitedWebFluxIntegrationTests {

	private final ReactiveWebApplicationContextRunner application = new ReactiveWebApplicationContextRunner(
			AnnotationConfigReactiveWebServerApplicationContext::new)
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, JacksonAutoConfiguration.class,
				CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, HttpHandlerAutoConfiguration.class,
				ReactiveWebServerFactoryAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitMetricsAutoConfiguration.class,
				RateLimitedAutoConfiguration.class))
		.withUserConfiguration(Application.class)
		.withPropertyValues("server.port=0", "ratelimit.redis.timeout=2s",
				"ratelimit.identity.hash.salt=salt of the tests", "ratelimit.policies.orders.limits.all.by=",
				"ratelimit.policies.orders.limits.all.quota=3/d", "ratelimit.policies.closed.limits.all.by=",
				"ratelimit.policies.closed.limits.all.quota=3/d", "ratelimit.policies.closed.on-failure=deny");

	@ParameterizedTest
	@ValueSource(strings = { "/plain", "/void", "/entity", "/cost?size=1" })
	void handlerIsLimitedByRedis(String path, RedisServer redis) {
		run(redis, (context) -> {
			WebTestClient client = client(context);
			for (int i = 2; i >= 0; i--) {
				client.get()
					.uri(path)
					.exchange()
					.expectStatus()
					.isOk()
					.expectHeader()
					.valueEquals("X-RateLimit-Remaining", "" + i);
			}
			client.get().uri(path).exchange().expectStatus().isEqualTo(429).expectHeader().exists("Retry-After");
		});
	}

	@Test
	void plainBeanMethodOnAnEventLoopIsAnsweredByTheFailureModeAndMetered(RedisServer redis, CapturedOutput output) {
		run(redis, (context) -> {
			assertThat(output)
				.contains("@RateLimited on Service.open: a call on an event loop does not know its caller");
			WebTestClient client = client(context);
			client.get().uri("/plain").exchange().expectStatus().isOk();
			// Or it may have answered by the time that is looked for its answer.
			redis.freeze();
			client.get().uri("/service?method=open").exchange().expectStatus().isOk();
			client.get().uri("/service?method=closed").exchange().expectStatus().isEqualTo(503);
			redis.thaw();
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThat(meters.get("ratelimit.degraded").tags("policy", "orders", "reason", "not-awaited").meter())
				.isNotNull();
			// What Redis took late counts under allow and is given back under deny.
			await().untilAsserted(() -> assertThat(remaining(context, "orders")).isEqualTo(1));
			await().untilAsserted(() -> assertThat(remaining(context, "closed")).isEqualTo(3));
		});
	}

	@Test
	void plainBeanMethodInMemoryIsObeyedAndWarnedOf(CapturedOutput output) {
		this.application.run((context) -> {
			for (int i = 0; i < 3; i++) {
				client(context).get().uri("/service?method=closed").exchange().expectStatus().isOk();
			}
			client(context).get().uri("/service?method=closed").exchange().expectStatus().isEqualTo(429);
			assertThat(output)
				.contains("@RateLimited on Service.open: a call on an event loop does not know its caller")
				.contains("Let the method return a Mono or a Flux");
		});
	}

	private void run(RedisServer redis, Consumer<AssertableReactiveWebApplicationContext> test) {
		redis.flush();
		this.application
			.withPropertyValues("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
			.run((context) -> {
				await().until(() -> !context.getBean(RateLimiter.class)
					.check(Request.of("orders").withCost(0))
					.toCompletableFuture()
					.join()
					.degraded());
				test.accept(context);
			});
	}

	private static long remaining(AssertableReactiveWebApplicationContext context, String policy) {
		return context.getBean(RateLimiter.class)
			.check(Request.of(policy).withCost(0))
			.toCompletableFuture()
			.join()
			.remaining();
	}

	private static WebTestClient client(AssertableReactiveWebApplicationContext context) {
		int port = ((AnnotationConfigReactiveWebServerApplicationContext) context.getSourceApplicationContext())
			.getWebServer()
			.getPort();
		return WebTestClient.bindToServer().baseUrl("http://localhost:" + port).build();
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Controller.class, Service.class })
	static class Application {

		@Bean
		MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

		/** Boot prefers Tomcat, which the tests have too and whose threads may block. */
		@Bean
		NettyReactiveWebServerFactory netty() {
			return new NettyReactiveWebServerFactory(0);
		}

	}

	static class Service {

		@RateLimited("orders")
		public String open() {
			return "done";
		}

		@RateLimited("closed")
		public String closed() {
			return "done";
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

		@GetMapping("/void")
		@RateLimited("orders")
		void nothing() {
		}

		@GetMapping("/entity")
		@RateLimited("orders")
		ResponseEntity<Flux<String>> entity() {
			return ResponseEntity.ok(Flux.fromIterable(List.of("done")));
		}

		@GetMapping("/cost")
		@RateLimited(policy = "orders", cost = "#size")
		String cost(@RequestParam int size) {
			return "done";
		}

		@GetMapping("/service")
		String service(@RequestParam String method) {
			return method.equals("open") ? this.service.open() : this.service.closed();
		}

	}

}
