package dev.ratelimit.gateway;

import java.util.concurrent.CompletableFuture;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.oauth2.jose.jws.MacAlgorithm;
import org.springframework.security.oauth2.jwt.NimbusReactiveJwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.ApiKeyVerifier;
import dev.ratelimit.web.DimensionResolver;

/**
 * A gateway whose upstream is itself: {@code /upstream} answers whatever is routed to it.
 * Boot would want a database because there is a driver on the class path.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class)
class GatewayTestApplication {

	/** Tomcat is on the class path too, for the tests of the servlet stack. */
	@Bean
	NettyReactiveWebServerFactory netty() {
		return new NettyReactiveWebServerFactory();
	}

	@Bean
	RouterFunction<ServerResponse> upstream() {
		return RouterFunctions.route()
			.GET("/upstream/**",
					(request) -> ServerResponse.ok()
						.header("X-RateLimit-Limit", "from upstream")
						.header("X-Upstream", "yes")
						.bodyValue("hello"))
			.build();
	}

	@Bean
	DimensionResolver accountResolver() {
		return (call) -> call.headers("X-Account").stream().findFirst().orElse(null);
	}

	@Bean
	DimensionResolver broken() {
		return (call) -> {
			throw new IllegalStateException("broken");
		};
	}

	@Bean
	ApiKeyVerifier verifier() {
		return (key) -> key.startsWith("failing") ? CompletableFuture.failedStage(new IllegalStateException())
				: CompletableFuture
					.completedStage(key.equals("good-key") ? new ApiKeyVerifier.VerifiedKey("acme", "pro") : null);
	}

	@Bean
	KeyResolver keyResolver() {
		return (exchange) -> Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-Key"));
	}

	@Bean
	RouteLocator dslRoutes(RouteLocatorBuilder builder, RateLimitGatewayFilterFactory rateLimit) {
		return builder.routes()
			.route("dsl", (route) -> route.path("/dsl")
				.filters((filters) -> filters.filter(rateLimit.apply((config) -> config.setPolicy("dsl").setCost(2L)))
					.setPath("/upstream"))
				.uri("forward:///"))
			.build();
	}

	@Bean
	ReactiveJwtDecoder decoder() {
		return NimbusReactiveJwtDecoder.withSecretKey(Tokens.KEY).macAlgorithm(MacAlgorithm.HS256).build();
	}

	@Bean
	SecurityWebFilterChain security(ServerHttpSecurity http) {
		return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
			.authorizeExchange((exchange) -> exchange.anyExchange().permitAll())
			.oauth2ResourceServer((server) -> server.jwt((jwt) -> {
			}))
			.build();
	}

}
