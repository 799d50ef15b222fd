package dev.ratelimit.urls;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.util.matcher.PathPatternParserServerWebExchangeMatcher;
import org.springframework.security.web.util.matcher.RequestMatcher;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.cors.reactive.CorsWebFilter;
import org.springframework.web.filter.CorsFilter;
import reactor.core.publisher.Mono;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Refusals before the application's CORS filter, wherever its settings are.
 */
class UrlCorsTests {

	private static final String SHOP = "https://shop.example";

	static Stream<Arguments> settings() {
		return Stream.of(Arguments.of(UrlStack.SERVLET, LateCorsFilter.class),
				Arguments.of(UrlStack.SERVLET, SourceBean.class), Arguments.of(UrlStack.SERVLET, InlineSource.class),
				Arguments.of(UrlStack.SERVLET, CrossOriginHandler.class),
				Arguments.of(UrlStack.REACTIVE, CrossOriginHandler.class),
				Arguments.of(UrlStack.REACTIVE, ReactiveInlineSource.class),
				Arguments.of(UrlStack.GATEWAY, GlobalCors.class),
				Arguments.of(UrlStack.GATEWAY, ReactiveInlineSource.class));
	}

	@ParameterizedTest
	@MethodSource("settings")
	void refusalBeforeTheCorsFilterHasItsHeaders(UrlStack stack, Class<?> settings) {
		try (ConfigurableApplicationContext context = stack.start(List.of(settings),
				"spring.cloud.gateway.server.webflux.globalcors.cors-configurations["
						+ ((settings == GlobalCors.class) ? "/**" : "/other") + "].allowed-origins=" + SHOP,
				"ratelimit.policies.address.limits.per-ip.by=ip", "ratelimit.policies.address.limits.per-ip.quota=1/h",
				"ratelimit.urls.early.path=/shop/**", "ratelimit.urls.early.policy=address",
				"ratelimit.urls.early.before-authentication=true", "ratelimit.policies.wide.limits.all.by=",
				"ratelimit.policies.wide.limits.all.quota=9/h", "ratelimit.policies.none.limits.all.by=",
				"ratelimit.policies.none.limits.all.quota=1/h", "ratelimit.urls.wide.path=/shop-fair",
				"ratelimit.urls.wide.policy=wide", "ratelimit.urls.zero.path=/shop-fair",
				"ratelimit.urls.zero.policy=none", "ratelimit.urls.zero.cost=2")) {
			assertThat(get(context, "/shop/a", "Origin", SHOP).headers().firstValue("Access-Control-Allow-Origin"))
				.hasValue(SHOP);
			HttpResponse<String> refused = get(context, "/shop/a", "Origin", SHOP);
			assertThat(refused.statusCode()).isEqualTo(429);
			assertThat(refused.headers().allValues("Access-Control-Allow-Origin")).containsExactly(SHOP);
			assertThat(UrlStack.json(refused)).containsEntry("url", "early");
			assertThat(get(context, "/shop/a").headers().firstValue("Access-Control-Allow-Origin")).isEmpty();
			assertThat(get(context, "/shop/a", "Origin", "https://evil.example").statusCode()).isEqualTo(403);
			// Refused by the second entry: the first takes nothing, whoever answers.
			assertThat(get(context, "/shop-fair", "Origin", "https://evil.example").statusCode()).isIn(403, 429);
			assertThat(get(context, "/shop-fair").statusCode()).isEqualTo(429);
			assertThat(context.getBean(RateLimiter.class)
				.check(Request.of("wide").withCost(0))
				.toCompletableFuture()
				.join()
				.remaining()).isEqualTo(9);
		}
	}

	/** Only the filter that is a bean is left. */
	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void failingMatcherOfSpringSecurityLeavesTheOtherFilters(UrlStack stack) {
		Class<?> settings = (stack == UrlStack.SERVLET) ? ServletFailingMatcher.class : ReactiveFailingMatcher.class;
		try (ConfigurableApplicationContext context = stack.start(List.of(settings),
				"ratelimit.policies.address.limits.per-ip.by=ip", "ratelimit.policies.address.limits.per-ip.quota=1/h",
				"ratelimit.urls.early.path=/shop/**", "ratelimit.urls.early.policy=address",
				"ratelimit.urls.early.before-authentication=true")) {
			get(context, "/shop/a", "Origin", SHOP);
			HttpResponse<String> refused = get(context, "/shop/a", "Origin", SHOP);
			assertThat(refused.statusCode()).isEqualTo(429);
			assertThat(refused.headers().allValues("Access-Control-Allow-Origin")).containsExactly(SHOP);
		}
	}

	private static HttpResponse<String> get(ConfigurableApplicationContext context, String path, String... headers) {
		return UrlStack.send(context, "GET", path, headers);
	}

	private static CorsConfiguration shop() {
		CorsConfiguration configuration = new CorsConfiguration();
		configuration.addAllowedOrigin(SHOP);
		return configuration;
	}

	private static UrlBasedCorsConfigurationSource source() {
		UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
		source.registerCorsConfiguration("/**", shop());
		return source;
	}

	/** On servlet it is found by the source that Spring MVC registers. */
	@RestController
	static class CrossOriginHandler {

		@CrossOrigin(SHOP)
		@GetMapping("/shop/a")
		String shop() {
			return "hello";
		}

	}

	/** After Spring Security's filter, as a plain registration is. */
	@Configuration(proxyBeanMethods = false)
	static class LateCorsFilter {

		@Bean
		FilterRegistrationBean<CorsFilter> cors() {
			return new FilterRegistrationBean<>(new CorsFilter(source()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SourceBean {

		@Bean
		UrlBasedCorsConfigurationSource corsConfigurationSource() {
			return source();
		}

	}

	/** Only the chain that the request belongs to counts. */
	@Configuration(proxyBeanMethods = false)
	static class InlineSource {

		@Bean
		@Order(1)
		SecurityFilterChain other(HttpSecurity http) throws Exception {
			return http.securityMatcher("/other/**")
				.cors((cors) -> cors.configurationSource((request) -> new CorsConfiguration()))
				.build();
		}

		@Bean
		@Order(2)
		SecurityFilterChain shop(HttpSecurity http) throws Exception {
			return http.securityMatcher("/shop/**")
				.cors((cors) -> cors.configurationSource(source()))
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ReactiveInlineSource {

		@Bean
		@Order(1)
		SecurityWebFilterChain other(ServerHttpSecurity http) {
			return http.securityMatcher(new PathPatternParserServerWebExchangeMatcher("/other/**"))
				.cors((cors) -> cors.configurationSource((exchange) -> new CorsConfiguration()))
				.build();
		}

		@Bean
		@Order(2)
		SecurityWebFilterChain shopChain(ServerHttpSecurity http) {
			return http.securityMatcher(new PathPatternParserServerWebExchangeMatcher("/shop/**"))
				.cors((cors) -> cors.configurationSource((exchange) -> shop()))
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ServletFailingMatcher extends LateCorsFilter {

		@Bean
		@Order(1)
		SecurityFilterChain failing(HttpSecurity http) throws Exception {
			return http.securityMatcher((RequestMatcher) (request) -> {
				throw new IllegalArgumentException("fails");
			}).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ReactiveFailingMatcher {

		@Bean
		CorsWebFilter cors() {
			return new CorsWebFilter((exchange) -> shop());
		}

		@Bean
		@Order(1)
		SecurityWebFilterChain failing(ServerHttpSecurity http) {
			return http.securityMatcher((exchange) -> Mono.error(new IllegalArgumentException("fails"))).build();
		}

	}

	/** The gateway's own setting. */
	static class GlobalCors {

	}

}
