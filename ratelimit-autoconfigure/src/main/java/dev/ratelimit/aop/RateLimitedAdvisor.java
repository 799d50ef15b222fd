package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Applies {@link RateLimitedAspect} to methods with {@link RateLimited}. It comes before
 * the advice of other annotations, so that a refused call opens no transaction. The
 * aspect is created at the first call: proxies are made while the application still
 * starts, too early for the limiter and its dependencies.
 */
final class RateLimitedAdvisor extends StaticMethodMatcherPointcutAdvisor {

	private static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 100;

	private final transient RateLimitedMethods methods;

	RateLimitedAdvisor(RateLimitedMethods methods, Supplier<RateLimitedAspect> aspect) {
		this.methods = methods;
		SingletonSupplier<RateLimitedAspect> once = SingletonSupplier.of(aspect);
		setAdvice((MethodInterceptor) (invocation) -> once.obtain().invoke(invocation));
		setClassFilter((type) -> AnnotationUtils.isCandidateClass(type, RateLimited.class));
		setOrder(ORDER);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.find(method, ClassUtils.getUserClass(targetClass)) != null;
	}

}
