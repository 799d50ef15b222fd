package dev.ratelimit.autoconfigure;

import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.InstanceSupplier;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
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
		Answer answer = answer(context.getEnvironment(), context.getBeanFactory(), context.getClassLoader());
		return new ConditionOutcome(answer.redis(),
				ConditionMessage.forCondition("rate limit backend").because(answer.reason()));
	}

	/**
	 * Says where counters belong.
	 */
	static Answer answer(Environment environment, @Nullable ConfigurableListableBeanFactory beans,
			@Nullable ClassLoader classes) {
		Binder binder = Binder.get(environment);
		RateLimitProperties.Backend backend = binder.bind("ratelimit.backend", RateLimitProperties.Backend.class)
			.orElse(RateLimitProperties.Backend.AUTO);
		return switch (backend) {
			case REDIS -> new Answer(true, "ratelimit.backend is redis");
			case MEMORY -> new Answer(false, "ratelimit.backend is memory");
			case AUTO -> auto(binder, beans, classes);
		};
	}

	private static Answer auto(Binder binder, @Nullable ConfigurableListableBeanFactory beans,
			@Nullable ClassLoader classes) {
		for (String where : WHERE) {
			String name = "spring.data.redis." + where;
			if (binder.bind(name, Bindable.listOf(String.class)).isBound()) {
				return new Answer(true, name + " is set");
			}
		}
		String bean = (beans != null) ? declaredByTheApplication(beans, classes) : null;
		return (bean != null) ? new Answer(true, "there is a bean '" + bean + "'")
				: new Answer(false, "no address of Redis is configured");
	}

	private static @Nullable String declaredByTheApplication(ConfigurableListableBeanFactory factory,
			@Nullable ClassLoader classes) {
		return BEANS.stream()
			.filter((type) -> ClassUtils.isPresent(type, classes))
			.map((type) -> ClassUtils.resolveClassName(type, classes))
			.flatMap((type) -> Stream.of(factory.getBeanNamesForType(type, true, false)))
			.filter((name) -> !declaredByBoot(factory, name))
			.findFirst()
			.orElse(null);
	}

	private static boolean declaredByBoot(ConfigurableListableBeanFactory factory, String name) {
		if (!factory.containsBeanDefinition(name)) {
			return false;
		}
		String declaring = declaringClass(factory.getBeanDefinition(name));
		return declaring != null && declaring.startsWith("org.springframework.boot.");
	}

	/** Definitions that were made ahead of time have no metadata of annotations. */
	private static @Nullable String declaringClass(BeanDefinition definition) {
		if (definition instanceof AnnotatedBeanDefinition annotated && annotated.getFactoryMethodMetadata() != null) {
			return annotated.getFactoryMethodMetadata().getDeclaringClassName();
		}
		Method method = (definition instanceof RootBeanDefinition root
				&& root.getInstanceSupplier() instanceof InstanceSupplier<?> supplier) ? supplier.getFactoryMethod()
						: null;
		return (method != null) ? method.getDeclaringClass().getName() : null;
	}

	/**
	 * Where counters belong, and why.
	 */
	record Answer(boolean redis, String reason) {

	}

}
