package dev.ratelimit.aop;

import java.lang.reflect.Proxy;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.ClassUtils;

/**
 * Fails the start for methods that are to be limited and which no proxy can check.
 */
public final class RateLimitedProxyCheck implements BeanPostProcessor {

	private final RateLimitedMethods methods;

	public RateLimitedProxyCheck(RateLimitedMethods methods) {
		this.methods = methods;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String name) {
		Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
		if (!Proxy.isProxyClass(type)) {
			this.methods.requireChecked(type, AopUtils.isJdkDynamicProxy(bean));
		}
		return bean;
	}

}
