package dev.ratelimit.urls;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.web.server.SecurityWebFiltersOrder;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;
import org.springframework.security.oauth2.core.oidc.OidcIdToken;
import org.springframework.security.oauth2.core.oidc.user.DefaultOidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.AnonymousAuthenticationFilter;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.util.matcher.PathPatternParserServerWebExchangeMatcher;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers of an OIDC login, whose claims the configuration alone makes facts.
 */
class CallerSourceStackTests {

	private static final String LOGGED_IN = "/public/login/**";

	@ParameterizedTest
	@EnumSource(names = { "SERVLET", "REACTIVE" })
	void tenantOfALoginIsCountedBy(UrlStack stack) {
		try (ConfigurableApplicationContext context = stack.start(
				List.of((stack == UrlStack.SERVLET) ? ServletLogin.class : ReactiveLogin.class),
				"ratelimit.identity.resolvers=user-details,oidc",
				"ratelimit.policies.tenants.limits.per-tenant.by=tenant",
				"ratelimit.policies.tenants.limits.per-tenant.quota=1/h",
				"ratelimit.policies.tenants.on-missing-identity=deny", "ratelimit.urls.login.path=" + LOGGED_IN,
				"ratelimit.urls.login.policy=tenants")) {
			assertThat(get(context, "acme").statusCode()).isEqualTo(200);
			HttpResponse<String> refused = get(context, "acme");
			assertThat(refused.statusCode()).isEqualTo(429);
			assertThat(UrlStack.json(refused)).containsEntry("scope", "tenant");
			assertThat(get(context, "other").statusCode()).isEqualTo(200);
		}
	}

	private static HttpResponse<String> get(ConfigurableApplicationContext context, String tenant) {
		return UrlStack.send(context, "GET", "/public/login/a", "X-Login", tenant);
	}

	private static Authentication login(@Nullable String tenant) {
		Map<String, Object> claims = Map.of("sub", "ann", "tenant_id", String.valueOf(tenant));
		return new TestingAuthenticationToken(
				new DefaultOidcUser(List.of(), new OidcIdToken("token", Instant.EPOCH, Instant.MAX, claims)), "",
				"USER");
	}

	@Configuration(proxyBeanMethods = false)
	static class ServletLogin {

		@Bean
		@Order(-1)
		SecurityFilterChain login(HttpSecurity http) throws Exception {
			return http.securityMatcher(LOGGED_IN)
				.addFilterBefore(new LoginFilter(), AnonymousAuthenticationFilter.class)
				.build();
		}

	}

	static class LoginFilter extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			SecurityContextHolder
				.setContext(new SecurityContextImpl(CallerSourceStackTests.login(request.getHeader("X-Login"))));
			chain.doFilter(request, response);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ReactiveLogin {

		@Bean
		@Order(-1)
		SecurityWebFilterChain login(ServerHttpSecurity http) {
			return http.securityMatcher(new PathPatternParserServerWebExchangeMatcher(LOGGED_IN))
				.addFilterAt(
						(exchange, chain) -> chain.filter(exchange)
							.contextWrite(ReactiveSecurityContextHolder.withAuthentication(CallerSourceStackTests
								.login(exchange.getRequest().getHeaders().getFirst("X-Login")))),
						SecurityWebFiltersOrder.AUTHENTICATION)
				.build();
		}

	}

}
