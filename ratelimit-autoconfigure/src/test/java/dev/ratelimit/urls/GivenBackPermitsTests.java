package dev.ratelimit.urls;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.aop.RateLimitExceededException;
import dev.ratelimit.aop.RateLimited;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A request that is refused after a URL entry has let it pass.
 */
class GivenBackPermitsTests {

	private static final String[] WIDE = { "ratelimit.policies.wide.limits.all.by=",
			"ratelimit.policies.wide.limits.all.quota=9/h", "ratelimit.urls.wide.path=/**",
			"ratelimit.urls.wide.policy=wide" };

	private static final String ROUTE = "spring.cloud.gateway.server.webflux.routes[2]";

	private static final String FILTER = ROUTE + ".filters[0]";

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void refusalByTheStandInForTheGatewaysLimiterGivesBack(int burst) {
		try (ConfigurableApplicationContext context = UrlStack.GATEWAY.start(List.of(Keys.class),
				join(ROUTE + ".id=standin", ROUTE + ".uri=forward:///", ROUTE + ".order=-1",
						ROUTE + ".predicates[0]=Path=/standin", ROUTE + ".filters[1]=SetPath=/upstream",
						FILTER + ".name=RequestRateLimiter", FILTER + ".args.rate-limiter=#{@distributedRateLimiter}",
						FILTER + ".args.key-resolver=#{@oneKey}", FILTER + ".args.redis-rate-limiter.replenishRate=1",
						FILTER + ".args.redis-rate-limiter.burstCapacity=" + burst,
						FILTER + ".args.redis-rate-limiter.requestedTokens=1"))) {
			HttpResponse<String> refused = get(context, "/standin");
			for (int allowed = 0; allowed < burst; allowed++) {
				assertThat(refused.statusCode()).isEqualTo(200);
				refused = get(context, "/standin");
			}
			assertThat(refused.statusCode()).isEqualTo(429);
			assertThat(remaining(context, "wide")).isEqualTo(9 - burst);
		}
	}

	@ParameterizedTest
	@CsvSource({ "SERVLET, plain", "SERVLET, stage", "SERVLET, mono", "REACTIVE, plain", "REACTIVE, stage",
			"REACTIVE, mono" })
	void refusalThatTheControllerAnswersGivesBack(UrlStack stack, String path) {
		try (ConfigurableApplicationContext context = stack.start(List.of(Polite.class),
				join("ratelimit.policies.none.limits.all.by=", "ratelimit.policies.none.limits.all.quota=1/h"))) {
			HttpResponse<String> refused = get(context, "/polite/" + path);
			assertThat(refused.statusCode()).isEqualTo(418);
			assertThat(remaining(context, "wide")).isEqualTo(9);
		}
	}

	@Test
	void callThatAFallbackServesKeepsItsPermits() {
		try (ConfigurableApplicationContext context = UrlStack.SERVLET.start(List.of(), join())) {
			assertThat(get(context, "/fallback").body()).isEqualTo("hello");
			assertThat(get(context, "/fallback").body()).isEqualTo("busy");
			assertThat(remaining(context, "wide")).isEqualTo(7);
		}
	}

	private static long remaining(ConfigurableApplicationContext context, String policy) {
		return context.getBean(RateLimiter.class)
			.check(Request.of(policy).withCost(0))
			.toCompletableFuture()
			.join()
			.remaining();
	}

	private static HttpResponse<String> get(ConfigurableApplicationContext context, String path) {
		return UrlStack.send(context, "GET", path, "Authorization", "Bearer ann");
	}

	private static String[] join(String... more) {
		List<String> all = new ArrayList<>(List.of(WIDE));
		all.addAll(List.of(more));
		return all.toArray(String[]::new);
	}

	@Configuration(proxyBeanMethods = false)
	static class Keys {

		@Bean
		KeyResolver oneKey() {
			return (exchange) -> Mono.just("one");
		}

	}

	/** Answers refusals itself. */
	@RestController
	static class Polite {

		@RateLimited(policy = "none", cost = "2")
		@GetMapping("/polite/plain")
		String plain() {
			return "hello";
		}

		@RateLimited(policy = "none", cost = "2")
		@GetMapping("/polite/stage")
		CompletionStage<String> stage() {
			return CompletableFuture.completedStage("hello");
		}

		@RateLimited(policy = "none", cost = "2")
		@GetMapping("/polite/mono")
		Mono<String> mono() {
			return Mono.just("hello");
		}

		@ExceptionHandler
		ResponseEntity<String> refused(RateLimitExceededException refusal) {
			return ResponseEntity.status(HttpStatus.I_AM_A_TEAPOT).body("no");
		}

	}

}
