package dev.ratelimit.app;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.security.reactive.EndpointRequest;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.autoconfigure.security.oauth2.resource.OAuth2ResourceServerProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.security.oauth2.server.resource.web.access.server.BearerTokenServerAccessDeniedHandler;
import org.springframework.security.oauth2.server.resource.web.server.BearerTokenServerAuthenticationEntryPoint;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.authorization.ServerAccessDeniedHandler;
import org.springframework.security.web.server.context.NoOpServerSecurityContextRepository;

import dev.ratelimit.actuate.AuditedAccessDeniedHandler;
import dev.ratelimit.actuate.DeniedAttempts;

/**
 * Access rules. The gateway accepts callers with or without a token, because its policies
 * decide what an anonymous caller gets; it refuses only tokens that are not valid. The
 * management port is stricter, because it can change limits. A sidecar without HTTP has
 * nothing to protect here.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = Type.REACTIVE)
@EnableConfigurationProperties(OAuth2ResourceServerProperties.class)
class GatewaySecurity {

	private static final Logger logger = LoggerFactory.getLogger(GatewaySecurity.class);

	private static final String ADMIN = "RATELIMIT_ADMIN";

	private static final String VIEWER = "RATELIMIT_VIEWER";

	private final boolean tokens;

	private final ObjectProvider<DeniedAttempts> denied;

	GatewaySecurity(ObjectProvider<ReactiveJwtDecoder> decoder, OAuth2ResourceServerProperties properties,
			ObjectProvider<DeniedAttempts> denied) {
		this.denied = denied;
		this.tokens = decoder.getIfAvailable() != null;
		if (!this.tokens) {
			logger
				.warn("No token issuer is configured: every caller is anonymous, and the actuator endpoint 'ratelimit' "
						+ "lets nobody in. Set spring.security.oauth2.resourceserver.jwt.issuer-uri "
						+ "(or jwk-set-uri, or public-key-location)");
		}
		else if (hasIssuer(properties.getJwt()) && properties.getJwt().getAudiences().isEmpty()) {
			logger.warn("No audience is configured: tokens that the issuer made for other services are accepted too. "
					+ "Set spring.security.oauth2.resourceserver.jwt.audiences to the 'aud' of tokens for this gateway");
		}
	}

	private static boolean hasIssuer(OAuth2ResourceServerProperties.Jwt jwt) {
		return jwt.getIssuerUri() != null || jwt.getJwkSetUri() != null || jwt.getPublicKeyLocation() != null;
	}

	@Bean
	@Order(1)
	SecurityWebFilterChain managementChain(ServerHttpSecurity http) {
		return stateless(http).securityMatcher(EndpointRequest.toAnyEndpoint())
			.authorizeExchange((exchanges) -> exchanges.matchers(EndpointRequest.to("health", "prometheus"))
				.permitAll()
				.matchers(EndpointRequest.to("ratelimit").withHttpMethod(HttpMethod.GET),
						EndpointRequest.to("ratelimit").withHttpMethod(HttpMethod.HEAD))
				.hasAnyRole(VIEWER, ADMIN)
				.anyExchange()
				.hasRole(ADMIN))
			.exceptionHandling((handling) -> handling.accessDeniedHandler(accessDenied()))
			.build();
	}

	/** Also records refused calls in the audit trail, if the endpoint has one. */
	private ServerAccessDeniedHandler accessDenied() {
		ServerAccessDeniedHandler handler = new BearerTokenServerAccessDeniedHandler();
		DeniedAttempts attempts = this.denied.getIfAvailable();
		return (attempts != null) ? new AuditedAccessDeniedHandler(attempts, handler) : handler;
	}

	/** Keeps the headers: the upstream decides whether an answer may be cached. */
	@Bean
	@Order(2)
	SecurityWebFilterChain gatewayChain(ServerHttpSecurity http) {
		return stateless(http).headers(ServerHttpSecurity.HeaderSpec::disable)
			.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
			.build();
	}

	// No cookie authenticates a caller, so CSRF has no target, and a path such as /logout
	// belongs to the upstream. Without the repository, each caller without a token would
	// get a session that is then dropped.
	private ServerHttpSecurity stateless(ServerHttpSecurity http) {
		http.securityContextRepository(NoOpServerSecurityContextRepository.getInstance())
			.csrf(ServerHttpSecurity.CsrfSpec::disable)
			.logout(ServerHttpSecurity.LogoutSpec::disable)
			.requestCache(ServerHttpSecurity.RequestCacheSpec::disable)
			.exceptionHandling(
					(handling) -> handling.authenticationEntryPoint(new BearerTokenServerAuthenticationEntryPoint()));
		if (this.tokens) {
			http.oauth2ResourceServer((server) -> server.jwt(Customizer.withDefaults()));
		}
		return http;
	}

}
