package dev.ratelimit.admin;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import jakarta.servlet.Filter;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.reactive.ReactiveManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.client.MockMvcWebTestClient;
import org.springframework.web.context.WebApplicationContext;
import reactor.core.publisher.Mono;

import dev.ratelimit.actuate.RateLimitEndpointAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitFleetAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.selfservice.RateLimitSelfServiceAutoConfiguration;

/**
 * The two stacks, for tests of what has to be the same on both. A token is readable here:
 * user, tenant, role and perhaps a tier, as in {@code ann/acme/RATELIMIT_ADMIN/pro}.
 */
public enum WebStack {

	REACTIVE {

		@Override
		public void run(boolean actuator, String[] properties, Scenario scenario) {
			ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
				.withConfiguration(AutoConfigurations.of(HttpHandlerAutoConfiguration.class,
						JacksonAutoConfiguration.class, CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class,
						ReactiveSecurityAutoConfiguration.class))
				.withUserConfiguration(ReactiveSecurity.class);
			prepared(
					actuator ? runner.withConfiguration(
							AutoConfigurations.of(ReactiveManagementContextAutoConfiguration.class)) : runner,
					actuator, properties)
				.run(checked(scenario,
						(context) -> WebTestClient.bindToApplicationContext(context)
							.configureClient()
							.responseTimeout(Duration.ofSeconds(20))
							.build()));
		}

	},

	SERVLET {

		@Override
		public void run(boolean actuator, String[] properties, Scenario scenario) {
			WebApplicationContextRunner runner = new WebApplicationContextRunner()
				.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
						JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
						WebMvcAutoConfiguration.class, SecurityAutoConfiguration.class))
				.withUserConfiguration(ServletSecurity.class);
			prepared(
					actuator ? runner.withConfiguration(
							AutoConfigurations.of(ServletManagementContextAutoConfiguration.class)) : runner,
					actuator, properties)
				.run(checked(scenario,
						(context) -> MockMvcWebTestClient.bindToApplicationContext((WebApplicationContext) context)
							.filters(context.getBean("springSecurityFilterChain", Filter.class))
							.configureClient()
							.responseTimeout(Duration.ofSeconds(20))
							.build()));
		}

	};

	/**
	 * Runs an application with the limiter, its endpoint and what it has for tenants.
	 * @param actuator whether Boot's actuator is on the class path
	 */
	public abstract void run(boolean actuator, String[] properties, Scenario scenario);

	private static <R extends AbstractApplicationContextRunner<R, ?, ?>> R prepared(R runner, boolean actuator,
			String[] properties) {
		R prepared = runner
			.withConfiguration(
					AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
							RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
							RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
							RateLimitAdminAutoConfiguration.class, RateLimitSelfServiceAutoConfiguration.class))
			.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
					"management.endpoint.ratelimit.access=UNRESTRICTED")
			.withPropertyValues(properties);
		return actuator
				? prepared.withConfiguration(
						AutoConfigurations.of(EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
								ManagementContextAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class))
				: prepared.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"));
	}

	private static ContextConsumer<ApplicationContext> checked(Scenario scenario, ClientOf client) {
		return (context) -> scenario.play(context, client.in(context));
	}

	private static Jwt jwt(String token) {
		String[] parts = token.split("/");
		if (parts.length < 3) {
			throw new BadJwtException("bad");
		}
		Map<String, Object> claims = new LinkedHashMap<>();
		claims.put("sub", parts[0]);
		claims.put("tenant_id", parts[1]);
		claims.put("role", parts[2]);
		if (parts.length > 3) {
			claims.put("tier", parts[3]);
		}
		return new Jwt(token, null, null, Map.of("alg", "none"), claims);
	}

	private static JwtAuthenticationToken authentication(Jwt token) {
		return new JwtAuthenticationToken(token,
				AuthorityUtils.createAuthorityList("ROLE_" + token.getClaimAsString("role")));
	}

	/** What happens in an application. */
	@FunctionalInterface
	public interface Scenario {

		void play(ApplicationContext context, WebTestClient client) throws Exception;

	}

	@FunctionalInterface
	private interface ClientOf {

		WebTestClient in(ApplicationContext context);

	}

	@Configuration(proxyBeanMethods = false)
	static class ReactiveSecurity {

		@Bean
		SecurityWebFilterChain chain(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.oauth2ResourceServer((server) -> server
					.jwt((jwt) -> jwt.jwtAuthenticationConverter((token) -> Mono.just(authentication(token)))))
				.build();
		}

		@Bean
		ReactiveJwtDecoder decoder() {
			return (token) -> Mono.fromSupplier(() -> jwt(token));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ServletSecurity {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) throws Exception {
			return http.csrf(AbstractHttpConfigurer::disable)
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.oauth2ResourceServer(
						(server) -> server.jwt((jwt) -> jwt.jwtAuthenticationConverter(WebStack::authentication)))
				.build();
		}

		@Bean
		JwtDecoder decoder() {
			return WebStack::jwt;
		}

	}

}
