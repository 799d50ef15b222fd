package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.test.web.reactive.server.WebTestClient;
import reactor.core.publisher.Mono;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Usage, resets and the trail, on applications that share a Redis.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class UsageFleetIntegrationTests {

	private static final String USAGE = "/actuator/ratelimit/usage?policy=orders&tenant=acme";

	private static final String AUDIT = "/actuator/ratelimit/audit";

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	static final String VIEWER = "vic/ops/RATELIMIT_VIEWER";

	private final ReactiveWebApplicationContextRunner context = ReactiveEndpoint
		.runner(ReactiveSecurityAutoConfiguration.class)
		.withUserConfiguration(Security.class)
		.withPropertyValues("ratelimit.redis.timeout=500ms", "ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=10000/m");

	@ParameterizedTest
	@EnumSource
	void resetDropsALeaseOfAnotherInstanceWithinASecond(Algorithm algorithm, RedisServer redis) {
		// A lease that would not be dropped is there for much longer than the test waits.
		ReactiveWebApplicationContextRunner leased = on(redis).withPropertyValues(
				"ratelimit.policies.orders.enforcement=leased", "ratelimit.lease.expires=50s",
				"ratelimit.policies.orders.algorithm=" + algorithm.text());
		leased.run((one) -> leased.run((other) -> {
			await().atMost(Duration.ofSeconds(30)).until(() -> {
				// Fast enough that taking permits ahead pays.
				for (int i = 0; i < 50; i++) {
					one.getBean(RateLimiter.class).check(ACME).toCompletableFuture().join();
				}
				return held(one) > 0;
			});
			assertThat(held(other)).isZero();
			client(other).delete()
				.uri(USAGE)
				.headers((headers) -> headers.setBearerAuth("ann/ops/RATELIMIT_ADMIN"))
				.exchange()
				.expectStatus()
				.isOk();
			Within.seconds(3).until(() -> held(one) == 0);
			assertThat(used(other)).isZero();
		}));
	}

	@Test
	void trailIsTheFleets(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			for (String role : List.of("OTHER", "RATELIMIT_ADMIN")) {
				client(one).delete()
					.uri(USAGE + "&reason=INC-7")
					.headers((headers) -> headers.setBearerAuth("ann/ops/" + role))
					.exchange();
			}
			await().untilAsserted(() -> client(other).get()
				.uri(AUDIT)
				.headers((headers) -> headers.setBearerAuth(VIEWER))
				.exchange()
				.expectBody()
				.json("{\"source\": \"store\", \"entries\": [{\"action\": \"usage-reset\", \"outcome\": \"done\", "
						+ "\"actor\": \"ann\", \"target\": \"orders by tenant\", \"reason\": \"INC-7\"}, "
						+ "{\"outcome\": \"refused\"}]}"));
		}));
	}

	@Test
	void changeIsDoneWhileTheTrailCannotBeWritten(RedisServer redis, CapturedOutput output) {
		on(redis).run((context) -> {
			redis.cli("SET", "rl:{policies}:audit", "foreign");
			client(context).delete()
				.uri(USAGE)
				.headers((headers) -> headers.setBearerAuth("ann/ops/RATELIMIT_ADMIN"))
				.exchange()
				.expectStatus()
				.isOk();
			await().untilAsserted(() -> client(context).get()
				.uri(AUDIT)
				.headers((headers) -> headers.setBearerAuth(VIEWER))
				.exchange()
				.expectBody()
				.json("{\"source\": \"instance\", \"waiting\": 1, \"entries\": [{\"action\": \"usage-reset\"}]}"));
			await().until(() -> output.getOut().contains("The audit trail cannot be written (WRONGTYPE "));
			assertThat(output).containsOnlyOnce("The audit trail cannot be written (WRONGTYPE ")
				.doesNotContain("\tat dev.ratelimit");
		});
	}

	private ReactiveWebApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	private static WebTestClient client(ApplicationContext context) {
		return WebTestClient.bindToApplicationContext(context).build();
	}

	private static long held(ApplicationContext context) {
		return number(context, "$.limits[0].heldByThisInstance");
	}

	private static long used(ApplicationContext context) {
		return number(context, "$.limits[0].quotas[0].used");
	}

	private static long number(ApplicationContext context, String path) {
		long[] number = new long[1];
		client(context).get()
			.uri(USAGE)
			.headers((headers) -> headers.setBearerAuth(VIEWER))
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.jsonPath(path)
			.value((Integer value) -> number[0] = value);
		return number[0];
	}

	/** A token here is readable: user, tenant and role. */
	@Configuration(proxyBeanMethods = false)
	static class Security {

		@Bean
		SecurityWebFilterChain chain(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.oauth2ResourceServer((server) -> server
					.jwt((jwt) -> jwt.jwtAuthenticationConverter((token) -> Mono.just(new JwtAuthenticationToken(token,
							AuthorityUtils.createAuthorityList("ROLE_" + token.getClaimAsString("role")))))))
				.build();
		}

		@Bean
		ReactiveJwtDecoder decoder() {
			return (token) -> {
				String[] parts = token.split("/");
				return (parts.length < 3) ? Mono.error(new BadJwtException("bad")) : Mono.just(new Jwt(token, null,
						null, Map.of("alg", "none"), Map.of("sub", parts[0], "tenant_id", parts[1], "role", parts[2])));
			};
		}

	}

}
