package dev.ratelimit.urls;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.web.CallerResolver;
import dev.ratelimit.web.DimensionResolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * URL entries together with other edges and with other settings of the application.
 */
@ExtendWith(OutputCaptureExtension.class)
class UrlEdgesTests {

	private static final String[] KEYED = { "ratelimit.policies.keyed.limits.all.by=",
			"ratelimit.policies.keyed.limits.all.quota=10/h", "ratelimit.urls.keyed.path=/keyed/**",
			"ratelimit.urls.keyed.policy=keyed" };

	/**
	 * Spring Security is earlier than its default here, and the entry still before it.
	 */
	@Test
	void floodOfBadTokensIsLimitedBeforeASecurityFilterOfAnotherOrder() {
		try (ConfigurableApplicationContext context = UrlStack.SERVLET.start(List.of(),
				"spring.security.filter.order=-200", "ratelimit.policies.login.limits.per-ip.by=ip",
				"ratelimit.policies.login.limits.per-ip.quota=3/h", "ratelimit.urls.login.path=/secured/login",
				"ratelimit.urls.login.policy=login", "ratelimit.urls.login.before-authentication=true")) {
			List<Integer> statuses = new ArrayList<>();
			for (int i = 0; i < 5; i++) {
				statuses
					.add(UrlStack.send(context, "GET", "/secured/login", "Authorization", "Bearer bad").statusCode());
			}
			assertThat(statuses).containsExactly(401, 401, 401, 429, 429);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void annotationWithAKeyIsChargedBesideAnEntryOfTheSamePolicy(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(Keyed.class), KEYED)) {
			assertThat(remaining(get(context, "/keyed/a"))).containsExactly("8");
			assertThat(remaining(get(context, "/keyed/a"))).containsExactly("6");
		}
	}

	@Test
	void filterWithDimensionsIsChargedBesideAnEntryOfTheSamePolicy() {
		String route = "spring.cloud.gateway.server.webflux.routes[2].";
		List<String> properties = new ArrayList<>(List.of(KEYED));
		properties.addAll(List.of(route + "id=keyed", route + "uri=forward:///", route + "predicates[0]=Path=/keyed/**",
				route + "filters[0].name=RateLimit", route + "filters[0].args.policy=keyed",
				route + "filters[0].args.dimensions.shop=#{@shop}", route + "filters[1]=SetPath=/upstream"));
		try (ConfigurableApplicationContext context = UrlStack.GATEWAY.start(List.of(Shop.class),
				properties.toArray(String[]::new))) {
			assertThat(remaining(get(context, "/keyed/a"))).containsExactly("8");
			assertThat(remaining(get(context, "/keyed/a"))).containsExactly("6");
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void callThatAConditionLetsBypassIsMetered(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(Conditional.class), KEYED)) {
			assertThat(get(context, "/conditional").statusCode()).isEqualTo(200);
			assertThat(context.getBean(MeterRegistry.class)
				.get("ratelimit.decisions")
				.tags("policy", "keyed", "outcome", "bypassed")
				.counter()
				.count()).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void callerResolversAreAskedInTheirOrder(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(List.of(Resolvers.class),
				"ratelimit.policies.tenants.limits.per-tenant.by=tenant",
				"ratelimit.policies.tenants.limits.per-tenant.quota=1/h",
				"ratelimit.policies.tenants.tiers.first.limits.per-tenant=7/h", "ratelimit.urls.all.path=/**",
				"ratelimit.urls.all.policy=tenants")) {
			assertThat(get(context, "/api/a").headers().allValues("X-RateLimit-Limit")).containsExactly("7");
		}
	}

	@ParameterizedTest
	@EnumSource
	void logOfRefusalsNamesTheEntry(UrlStack stack, CapturedOutput output) {
		try (ConfigurableApplicationContext context = stack.start(List.of(),
				"ratelimit.policies.all.limits.all.by=route", "ratelimit.policies.all.limits.all.quota=1/h",
				"ratelimit.urls.by-name.path=/api/**", "ratelimit.urls.by-name.policy=all",
				"logging.level.dev.ratelimit.refusals=info")) {
			assertThat(get(context, "/api/a").statusCode()).isEqualTo(200);
			assertThat(get(context, "/api/a").statusCode()).isEqualTo(429);
			await().untilAsserted(() -> assertThat(output).contains("\"route\":\"by-name\""));
		}
	}

	private static List<String> remaining(HttpResponse<String> response) {
		assertThat(response.statusCode()).isEqualTo(200);
		return response.headers().allValues("X-RateLimit-Remaining");
	}

	private static HttpResponse<String> get(ConfigurableApplicationContext context, String path) {
		return UrlStack.send(context, "GET", path, "X-A", "b");
	}

	@RestController
	static class Keyed {

		@RateLimited(policy = "keyed", key = "'shop'")
		@GetMapping("/keyed/a")
		String keyed() {
			return "hello";
		}

	}

	@RestController
	static class Conditional {

		@RateLimited(policy = "keyed", condition = "false")
		@GetMapping("/conditional")
		String conditional() {
			return "hello";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Shop {

		@Bean
		DimensionResolver shop() {
			return (call) -> "shop";
		}

	}

	/** In the other order than they are declared. */
	@Configuration(proxyBeanMethods = false)
	static class Resolvers {

		@Bean
		@Order(2)
		CallerResolver second() {
			return (call) -> new CallerResolver.Caller("acme", "ann", "second");
		}

		@Bean
		@Order(1)
		CallerResolver first() {
			return (call) -> new CallerResolver.Caller("acme", "ann", "first");
		}

	}

}
