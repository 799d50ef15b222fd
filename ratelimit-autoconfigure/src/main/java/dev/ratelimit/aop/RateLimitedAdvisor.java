package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.function.Supplier;

import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts {@link RateLimitedAspect} around the methods it is for. It comes before what other
 * annotations add, so that a refused call opens no transaction. The aspect is fetched at
 * the first call: proxies are made while the application still starts, and the limiter
 * must not be pulled forward with all that it needs.
 */
public final class RateLimitedAdvisor extends AbstractPointcutAdvisor {

	private static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 100;

	private final transient Pointcut pointcut;

	private final transient MethodInterceptor advice;

	public RateLimitedAdvisor(RateLimitedMethods methods, Supplier<RateLimitedAspect> aspect) {
		this.pointcut = new AnnotatedMethods(methods);
		SingletonSupplier<RateLimitedAspect> once = SingletonSupplier.of(aspect);
		this.advice = (invocation) -> once.obtain().invoke(invocation);
		setOrder(ORDER);
	}

	@Override
	public Pointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.advice;
	}

	private static final class AnnotatedMethods extends StaticMethodMatcherPointcut {

		private final RateLimitedMethods methods;

		AnnotatedMethods(RateLimitedMethods methods) {
			this.methods = methods;
			setClassFilter((type) -> AnnotationUtils.isCandidateClass(type, RateLimited.class));
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return this.methods.find(method, ClassUtils.getUserClass(targetClass)) != null;
		}

	}

}
