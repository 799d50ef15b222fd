package dev.ratelimit.autoconfigure;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

import dev.ratelimit.config.RateLimitProperties.PoliciesStore.Type;

/**
 * Whether policies that are edited at run time belong in Redis: the type is redis, or it
 * is auto and there is a URL or counters are kept in Redis.
 */
class OnRedisStore extends SpringBootCondition implements ConfigurationCondition {

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("rate limit policies store");
		Binder binder = Binder.get(context.getEnvironment());
		Type type = binder.bind("ratelimit.policies-store.type", Type.class).orElse(Type.AUTO);
		String url = binder.bind("ratelimit.policies-store.redis.url", String.class).orElse("");
		if (type != Type.AUTO) {
			return new ConditionOutcome(type == Type.REDIS, message.because("ratelimit.policies-store.type is set"));
		}
		if (StringUtils.hasText(url)) {
			return ConditionOutcome.match(message.because("ratelimit.policies-store.redis.url is set"));
		}
		ConfigurableListableBeanFactory factory = context.getBeanFactory();
		boolean counters = factory != null
				&& factory.getBeanNamesForType(LimiterConnection.class, true, false).length > 0;
		return new ConditionOutcome(counters,
				message.because(counters ? "counters are kept in Redis" : "counters are not kept in Redis"));
	}

}
