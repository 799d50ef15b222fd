package dev.ratelimit.autoconfigure;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.reactive.ServerHttpRequest;

import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.web.TrustedProxies;
import dev.ratelimit.web.reactive.RefusedConnections;

/**
 * Closes connections of callers that are refused too often: one counter for all filters
 * of the reactive stack, as they see the same connections.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = Type.REACTIVE)
class RefusedConnectionsConfiguration {

	@Bean
	RefusedConnections rateLimitRefusedConnections(RateLimitProperties properties, Policies policies) {
		TrustedProxies proxies = new TrustedProxies(properties.identity().trustedProxies());
		boolean direct = properties.identity().trustedHops() == 0;
		return new RefusedConnections((policy) -> closeAfter(policies.get().find(policy)),
				(request) -> direct && !proxies.contain(address(request)));
	}

	private static long closeAfter(@Nullable Policy policy) {
		Penalty penalty = (policy != null) ? policy.settings().penalty() : null;
		return (penalty != null) ? penalty.closeAfter() : 0;
	}

	private static @Nullable InetAddress address(ServerHttpRequest request) {
		InetSocketAddress address = request.getRemoteAddress();
		return (address != null) ? address.getAddress() : null;
	}

}
