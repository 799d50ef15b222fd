package dev.ratelimit.app.demo;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;

/**
 * Wires the demo. Its key is published, so a caller can be anybody: a warning says so at
 * every start, and the demo refuses to run with a real issuer.
 */
@Configuration(proxyBeanMethods = false)
@Profile("demo")
@EnableConfigurationProperties(DemoProperties.class)
class DemoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(DemoConfiguration.class);

	private static final String DECODER = "demoJwtDecoder";

	DemoConfiguration(DemoProperties properties) {
		logger.warn(
				"Profile 'demo' is on: tokens signed with a published key are accepted, and GET /demo/token gives "
						+ "them to {}. Never use it where limits matter",
				properties.remote() ? "EVERY caller"
						: "callers on this host, the only ones it listens to unless ratelimit.demo.remote=true");
	}

	@Bean
	static BeanFactoryPostProcessor demoConflicts(Environment environment) {
		return new DemoConflicts(environment, DECODER);
	}

	@Bean(DECODER)
	ReactiveJwtDecoder demoJwtDecoder() {
		return DemoTokens.decoder();
	}

	@Bean
	DemoEchoGatewayFilterFactory demoEchoGatewayFilterFactory() {
		return new DemoEchoGatewayFilterFactory();
	}

	@Bean
	DemoLlmGatewayFilterFactory demoLlmGatewayFilterFactory() {
		return new DemoLlmGatewayFilterFactory();
	}

}
