package dev.ratelimit.gateway;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.server.mvc.config.GatewayMvcProperties;
import org.springframework.cloud.gateway.server.mvc.filter.FilterSupplier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The route filter while {@code ratelimit.enabled} is {@code false}: routes name it as
 * before, and it lets every request pass.
 */
@AutoConfiguration(after = { RateLimitGatewayAutoConfiguration.class, RateLimitGatewayMvcAutoConfiguration.class },
		afterName = "org.springframework.cloud.gateway.config.GatewayAutoConfiguration")
@ConditionalOnProperty(name = "ratelimit.enabled", havingValue = "false")
public final class RateLimitGatewayDisabledAutoConfiguration {

	/**
	 * The gateway on WebFlux.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ AbstractGatewayFilterFactory.class, GatewayProperties.class })
	@ConditionalOnBean(GatewayProperties.class)
	static class WebFluxConfiguration {

		@Bean
		@ConditionalOnMissingBean
		RateLimitGatewayFilterFactory rateLimitGatewayFilterFactory() {
			return RateLimitGatewayFilterFactory.disabled();
		}

	}

	/**
	 * The gateway on WebMVC.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ FilterSupplier.class, GatewayMvcProperties.class })
	@ConditionalOnWebApplication(type = Type.SERVLET)
	@ConditionalOnMissingBean(MvcRouteCheck.class)
	static class WebMvcConfiguration {

		@Bean
		FilterSupplier rateLimitDisabledFilterSupplier() {
			return RateLimitGatewayMvcAutoConfiguration.routeFilters();
		}

	}

}
