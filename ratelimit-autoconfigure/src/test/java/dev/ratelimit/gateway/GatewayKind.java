package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.List;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.cloud.gateway.server.mvc.handler.GatewayRouterFunctions;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Both gateways, with the same routes.
 */
enum GatewayKind {

	WEBFLUX(WebApplicationType.REACTIVE, Flux.class, "spring.cloud.gateway.server.webflux", ""),

	WEBMVC(WebApplicationType.SERVLET, Mvc.class, "spring.cloud.gateway.server.webmvc",
			"org.springframework.cloud.gateway.config.GatewayRedisAutoConfiguration");

	private final WebApplicationType type;

	private final Class<?> application;

	private final String prefix;

	private final String excluded;

	GatewayKind(WebApplicationType type, Class<?> application, String prefix, String excluded) {
		this.type = type;
		this.application = application;
		this.prefix = prefix;
		this.excluded = excluded;
	}

	String excluded() {
		return this.excluded;
	}

	/**
	 * Starts the gateway.
	 * @param upstream where all routes lead
	 * @param routes the filters of each, after its name; its path is {@code /name/**}. A
	 * filter in the long form has more than one part, each with a dot
	 */
	ConfigurableApplicationContext start(String upstream, List<String> routes, String... properties) {
		List<String> all = new ArrayList<>(List.of("server.port=0", "ratelimit.backend=memory",
				"ratelimit.policies-store.type=none", "spring.cloud.config.enabled=false", "test.upstream=" + upstream,
				"management.health.redis.enabled=false", "management.health.r2dbc.enabled=false"));
		if (this == WEBMVC) {
			all.add("spring.cloud.gateway.server.webflux.enabled=false");
			all.add("spring.autoconfigure.exclude=" + this.excluded);
		}
		for (int i = 0; i < routes.size(); i++) {
			String[] route = routes.get(i).split(" ");
			String at = this.prefix + ".routes[" + i + "].";
			all.addAll(List.of(at + "id=" + route[0], at + "uri=" + upstream,
					at + "predicates[0]=Path=/" + route[0] + "/**", at + "filters[0]=StripPrefix=1"));
			for (int j = 1; j < route.length; j++) {
				all.add(at + "filters[" + (route[j].startsWith(".") ? 1 : j) + "]" + route[j]);
			}
		}
		all.addAll(List.of(properties));
		return new SpringApplicationBuilder(this.application).web(this.type)
			.properties(all.toArray(String[]::new))
			.run("--spring.cloud.gateway.server.webmvc.enabled=" + (this == WEBMVC));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class)
	static class Flux {

		/** Otherwise the end of one application is that of the servers of all others. */
		@Bean
		ReactorResourceFactory resources() {
			ReactorResourceFactory resources = new ReactorResourceFactory();
			resources.setUseGlobalResources(false);
			return resources;
		}

		/** Tomcat is on the class path too. */
		@Bean
		NettyReactiveWebServerFactory netty(ReactorResourceFactory resources) {
			NettyReactiveWebServerFactory factory = new NettyReactiveWebServerFactory(0);
			factory.setResourceFactory(resources);
			return factory;
		}

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.build();
		}

		@Bean
		RouteLocator dsl(RouteLocatorBuilder builder, RateLimitGatewayFilterFactory limit,
				org.springframework.core.env.Environment environment) {
			String upstream = environment.getRequiredProperty("test.upstream");
			return builder.routes()
				.route("in-java",
						(route) -> route.path("/in-java/**")
							.filters((filters) -> filters.stripPrefix(1)
								.filter(limit.apply((config) -> config.setPolicy("orders").setCost(2L))))
							.uri(upstream))
				.route("unknown-in-java",
						(route) -> route.path("/unknown-in-java/**")
							.filters((filters) -> filters.stripPrefix(1)
								.filter(limit.apply((config) -> config.setPolicy("none-such"))))
							.uri(upstream))
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class)
	static class Mvc {

		@Bean
		SecurityFilterChain security(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

		@Bean
		RouterFunction<ServerResponse> inJava() {
			return GatewayRouterFunctions.route("in-java")
				.GET("/in-java/hello", (request) -> ServerResponse.ok().body("hello"))
				.filter(RateLimitFilterFunctions.rateLimit("orders", 2))
				.build();
		}

		@Bean
		RouterFunction<ServerResponse> unknownInJava() {
			return GatewayRouterFunctions.route("unknown-in-java")
				.GET("/unknown-in-java/hello", (request) -> ServerResponse.ok().body("hello"))
				.filter(RateLimitFilterFunctions.rateLimit("none-such"))
				.build();
		}

	}

}
