package dev.ratelimit.urls;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

import dev.ratelimit.aop.RateLimitExceededException;
import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.json.JsonReader;
import dev.ratelimit.web.ApiKeyVerifier;

/**
 * Applications on each stack with a real server, Spring Security and one handler for all
 * paths. A token is the name of its user; {@code bad} is no valid token, and
 * {@code /secured} needs one.
 */
enum UrlStack {

	SERVLET(WebApplicationType.SERVLET, Servlet.class, "spring.cloud.gateway.server.webflux.enabled=false"),

	REACTIVE(WebApplicationType.REACTIVE, Reactive.class, "spring.cloud.gateway.server.webflux.enabled=false"),

	GATEWAY(WebApplicationType.REACTIVE, Gateway.class, "spring.cloud.gateway.server.webflux.routes[0].id=all",
			"spring.cloud.gateway.server.webflux.routes[0].uri=forward:///",
			"spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/**",
			"spring.cloud.gateway.server.webflux.routes[0].order=10",
			"spring.cloud.gateway.server.webflux.routes[0].filters[0]=SetPath=/upstream",
			"spring.cloud.gateway.server.webflux.routes[1].id=handled",
			"spring.cloud.gateway.server.webflux.routes[1].uri=forward:///",
			"spring.cloud.gateway.server.webflux.routes[1].predicates[0]=Path=/handled/**",
			"spring.cloud.gateway.server.webflux.routes[1].filters[0]=RateLimit=handled,3",
			"spring.cloud.gateway.server.webflux.routes[1].filters[1]=SetPath=/upstream"),

	GATEWAY_MVC(WebApplicationType.SERVLET, GatewayMvc.class, "spring.cloud.gateway.server.webflux.enabled=false",
			"spring.cloud.gateway.server.webmvc.routes[0].id=all",
			"spring.cloud.gateway.server.webmvc.routes[0].uri=forward:/upstream",
			"spring.cloud.gateway.server.webmvc.routes[0].predicates[0]=Path=/,/api/**,/writes/**,/both/**,/heavy/**,"
					+ "/costly/**,/secured/**,/early/**,/public/**,/denied/**",
			"spring.cloud.gateway.server.webmvc.routes[1].id=handled",
			"spring.cloud.gateway.server.webmvc.routes[1].uri=forward:/upstream",
			"spring.cloud.gateway.server.webmvc.routes[1].predicates[0]=Path=/handled/**",
			"spring.cloud.gateway.server.webmvc.routes[1].filters[0]=RateLimit=handled,3");

	/** Fails without the gateway, which these applications leave out. */
	private static final String NO_GATEWAY = "org.springframework.cloud.gateway.config.GatewayRedisAutoConfiguration";

	private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(30)).build();

	private final WebApplicationType type;

	private final Class<?> application;

	private final String[] properties;

	UrlStack(WebApplicationType type, Class<?> application, String... properties) {
		this.type = type;
		this.application = application;
		this.properties = properties;
	}

	ConfigurableApplicationContext start(List<Class<?>> more, String... properties) {
		return new SpringApplicationBuilder(this.application).sources(more.toArray(new Class<?>[0]))
			.web(this.type)
			.properties("server.port=0", "ratelimit.backend=memory", "spring.cloud.config.enabled=false",
					"management.endpoints.web.exposure.include=health,ratelimit",
					"management.health.redis.enabled=false", "management.health.r2dbc.enabled=false",
					"ratelimit.policies.handled.limits.per-user.by=user",
					"ratelimit.policies.handled.limits.per-user.quota=10/h",
					"ratelimit.policies.once.limits.per-user.by=user",
					"ratelimit.policies.once.limits.per-user.quota=1/h",
					"ratelimit.policies.sms.limits.per-user.by=user",
					"ratelimit.policies.sms.limits.per-user.quota=10/h")
			.properties(this.properties)
			.properties(properties)
			.run("--spring.cloud.gateway.server.webmvc.enabled=" + (this == GATEWAY_MVC));
	}

	/** Sends a request; headers are pairs of a name and a value. */
	static HttpResponse<String> send(ConfigurableApplicationContext context, String method, String path,
			String... headers) {
		return send(context.getEnvironment().getProperty("local.server.port"), method, path, headers);
	}

	static HttpResponse<String> send(String port, String method, String path, String... headers) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
			.timeout(Duration.ofSeconds(60))
			.method(method, HttpRequest.BodyPublishers.noBody());
		if (headers.length > 0) {
			request.headers(headers);
		}
		try {
			return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	static Map<String, Object> json(HttpResponse<String> response) {
		return JsonReader.object(response.body());
	}

	private static Jwt jwt(String token) {
		if (token.startsWith("bad")) {
			throw new BadJwtException("bad");
		}
		return new Jwt(token, null, null, Map.of("alg", "none"),
				Map.of("sub", token, "tenant_id", "acme", "org", Map.of("id", token)));
	}

	/** Knows one key. */
	static class Keys implements ApiKeyVerifier {

		@Override
		public CompletionStage<VerifiedKey> verify(String key) {
			return CompletableFuture.completedStage(key.equals("sk_prod_1") ? new VerifiedKey("acme", null) : null);
		}

	}

	/** Sends texts. */
	static class Sms {

		@RateLimited("sms")
		public void send() {
		}

	}

	/** Boot would want a database because there is a driver on the class path. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class, excludeName = NO_GATEWAY)
	@Import({ ServletSecurity.class, Keys.class, Sms.class, Handlers.class })
	static class Servlet {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class, excludeName = NO_GATEWAY)
	@Import({ ServletSecurity.class, Keys.class, Upstream.class })
	static class GatewayMvc {

	}

	@RestController
	static class Upstream {

		@RequestMapping("/upstream")
		String any() {
			return "hello";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ServletSecurity {

		@Bean
		SecurityFilterChain security(HttpSecurity http) throws Exception {
			return http.csrf(AbstractHttpConfigurer::disable)
				.cors(Customizer.withDefaults())
				.authorizeHttpRequests(
						(requests) -> requests.requestMatchers("/secured/**").authenticated().anyRequest().permitAll())
				.oauth2ResourceServer((server) -> server.jwt(Customizer.withDefaults()))
				.build();
		}

		@Bean
		JwtDecoder decoder() {
			return UrlStack::jwt;
		}

	}

	@RestController
	static class Handlers {

		private final Sms sms;

		Handlers(Sms sms) {
			this.sms = sms;
		}

		@RequestMapping({ "/", "/api/**", "/writes/**", "/both/**", "/heavy/**", "/costly/**", "/peek/**",
				"/secured/**", "/early/**", "/public/**", "/denied/**" })
		String any() {
			return "hello";
		}

		@RequestMapping("/api/own/headers")
		ResponseEntity<String> headers() {
			return ResponseEntity.ok()
				.header("X-RateLimit-Remaining", "77", "78")
				.header("X-RateLimit-Policy", "mine")
				.header("X-Own", "1", "2")
				.body("hello");
		}

		@RateLimited(policy = "handled", cost = "3")
		@RequestMapping("/handled/**")
		String handled() {
			return "hello";
		}

		@RateLimited("sms")
		@RateLimited(policy = "handled", cost = "9")
		@RequestMapping("/repeated")
		String repeated() {
			return "hello";
		}

		@RateLimited(policy = "once", fallbackMethod = "busy")
		@RequestMapping("/fallback")
		String fallback() {
			return "hello";
		}

		String busy(RateLimitExceededException refusal) {
			return "busy";
		}

		@RequestMapping("/sms")
		String sms() {
			this.sms.send();
			this.sms.send();
			return "hello";
		}

		@RequestMapping("/fails")
		String fails() {
			throw new IllegalStateException("fails");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class, excludeName = NO_GATEWAY)
	@Import({ ReactiveSecurity.class, Keys.class, Sms.class, Handlers.class })
	static class Reactive {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class)
	@Import({ ReactiveSecurity.class, Keys.class })
	static class Gateway {

		@Bean
		RouterFunction<ServerResponse> upstream() {
			return RouterFunctions.route()
				.path("/upstream",
						(upstream) -> upstream.route((request) -> true,
								(request) -> ServerResponse.ok().bodyValue("hello")))
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ReactiveSecurity {

		/** Tomcat is on the class path too. */
		@Bean
		NettyReactiveWebServerFactory netty() {
			return new NettyReactiveWebServerFactory(0);
		}

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.cors(Customizer.withDefaults())
				.authorizeExchange(
						(exchanges) -> exchanges.pathMatchers("/secured/**").authenticated().anyExchange().permitAll())
				.oauth2ResourceServer((server) -> server.jwt(Customizer.withDefaults()))
				.build();
		}

		@Bean
		ReactiveJwtDecoder decoder() {
			return (token) -> Mono.fromSupplier(() -> jwt(token));
		}

	}

}
