package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Keeps the fallback methods of {@link RateLimited} in a native image, where only methods
 * with a hint can be called by reflection.
 */
final class FallbackMethodHints implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		Set<Method> fallbacks = new RateLimitedMethods().ofClass(bean.getBeanClass())
			.stream()
			.map(RateLimitedMethod::fallback)
			.filter((fallback) -> fallback != null)
			.map(FallbackMethod::method)
			.collect(Collectors.toSet());
		return fallbacks.isEmpty() ? null : (generation, code) -> fallbacks.forEach(
				(method) -> generation.getRuntimeHints().reflection().registerMethod(method, ExecutableMode.INVOKE));
	}

}
