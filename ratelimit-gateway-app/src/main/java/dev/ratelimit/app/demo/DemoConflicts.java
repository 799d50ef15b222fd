package dev.ratelimit.app.demo;

import java.util.Arrays;
import java.util.List;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;
import org.springframework.util.StringUtils;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * Fails the start when real tokens are configured too: the demo's decoder would silently
 * win over them, and anybody could sign what only the issuer should.
 */
class DemoConflicts implements BeanFactoryPostProcessor {

	private static final String PREFIX = "spring.security.oauth2.resourceserver.";

	private static final List<String> PROPERTIES = List.of(PREFIX + "jwt.issuer-uri", PREFIX + "jwt.jwk-set-uri",
			PREFIX + "jwt.public-key-location", PREFIX + "opaquetoken.introspection-uri");

	private final Environment environment;

	private final String ownDecoder;

	DemoConflicts(Environment environment, String ownDecoder) {
		this.environment = environment;
		this.ownDecoder = ownDecoder;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		for (String property : PROPERTIES) {
			if (StringUtils.hasText(this.environment.getProperty(property))) {
				throw conflict("property '" + property + "' is set");
			}
		}
		Arrays.stream(beanFactory.getBeanNamesForType(ReactiveJwtDecoder.class, true, false))
			.filter((name) -> !name.equals(this.ownDecoder))
			.findFirst()
			.ifPresent((name) -> {
				throw conflict("there is a ReactiveJwtDecoder bean '" + name + "'");
			});
	}

	private static InvalidPolicyException conflict(String why) {
		return new InvalidPolicyException(
				"Profile 'demo' accepts tokens signed with a published key, but real tokens are configured as well: "
						+ why + ".",
				"Start without profile 'demo' to verify real tokens (with Maven: -Dspring-boot.run.profiles=default), "
						+ "or remove the other source of tokens to try the demo.");
	}

}
