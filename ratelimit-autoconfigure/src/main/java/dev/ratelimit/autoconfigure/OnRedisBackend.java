package dev.ratelimit.autoconfigure;

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.MethodMetadata;
import org.springframework.util.ClassUtils;

import dev.ratelimit.config.RateLimitProperties;

/**
 * Whether counters belong in Redis: the backend is redis, or it is auto and the
 * application configures an address of Redis. Boot's own connection to localhost does not
 * count.
 */
class OnRedisBackend extends SpringBootCondition implements ConfigurationCondition {

	private static final List<String> WHERE = List.of("host", "url", "cluster.nodes", "sentinel.nodes");

	private static final List<String> BEANS = List.of(
			"org.springframework.data.redis.connection.RedisConnectionFactory",
			"org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails",
			"org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails");

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("rate limit backend");
		Binder binder = Binder.get(context.getEnvironment());
		RateLimitProperties.Backend backend = binder.bind("ratelimit.backend", RateLimitProperties.Backend.class)
			.orElse(RateLimitProperties.Backend.AUTO);
		return switch (backend) {
			case REDIS -> ConditionOutcome.match(message.because("ratelimit.backend is redis"));
			case MEMORY -> ConditionOutcome.noMatch(message.because("ratelimit.backend is memory"));
			case AUTO -> auto(binder, context, message);
		};
	}

	private static ConditionOutcome auto(Binder binder, ConditionContext context, ConditionMessage.Builder message) {
		for (String where : WHERE) {
			String name = "spring.data.redis." + where;
			if (binder.bind(name, Bindable.listOf(String.class)).isBound()) {
				return ConditionOutcome.match(message.because(name + " is set"));
			}
		}
		String bean = declaredByTheApplication(context);
		return (bean != null) ? ConditionOutcome.match(message.foundExactly("bean '" + bean + "'"))
				: ConditionOutcome.noMatch(message.because("no address of Redis is configured"));
	}

	private static @Nullable String declaredByTheApplication(ConditionContext context) {
		ConfigurableListableBeanFactory factory = context.getBeanFactory();
		if (factory == null) {
			return null;
		}
		return BEANS.stream()
			.filter((type) -> ClassUtils.isPresent(type, context.getClassLoader()))
			.map((type) -> ClassUtils.resolveClassName(type, context.getClassLoader()))
			.flatMap((type) -> Stream.of(factory.getBeanNamesForType(type, true, false)))
			.filter((name) -> !declaredByBoot(factory, name))
			.findFirst()
			.orElse(null);
	}

	private static boolean declaredByBoot(ConfigurableListableBeanFactory factory, String name) {
		if (!factory.containsBeanDefinition(name)) {
			return false;
		}
		BeanDefinition definition = factory.getBeanDefinition(name);
		MethodMetadata method = (definition instanceof AnnotatedBeanDefinition annotated)
				? annotated.getFactoryMethodMetadata() : null;
		return method != null && method.getDeclaringClassName().startsWith("org.springframework.boot.");
	}

}
