package dev.ratelimit.aop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.cglib.core.SpringNamingPolicy;
import org.springframework.cglib.proxy.Callback;
import org.springframework.cglib.proxy.CallbackFilter;
import org.springframework.cglib.proxy.Enhancer;
import org.springframework.cglib.proxy.Factory;
import org.springframework.cglib.proxy.MethodInterceptor;
import org.springframework.cglib.proxy.NoOp;
import org.springframework.objenesis.SpringObjenesis;
import org.springframework.objenesis.instantiator.ObjectInstantiator;
import org.springframework.util.ReflectionUtils;

/**
 * Creates proxies of a controller for single requests. The class is created once; a proxy
 * costs two allocations.
 */
record RequestProxies(ObjectInstantiator<?> instantiator) {

	/** Leaves finalizers out. One object, because it is a key of caches. */
	private static final CallbackFilter FILTER = (method) -> AopUtils.isFinalizeMethod(method) ? 1 : 0;

	/**
	 * Proxies of a type of controller, which may be a JDK proxy itself.
	 * @throws RuntimeException if the type cannot have a proxy
	 */
	static RequestProxies of(Class<?> controller) {
		Enhancer enhancer = new Enhancer();
		if (Proxy.isProxyClass(controller)) {
			enhancer.setInterfaces(controller.getInterfaces());
		}
		else {
			enhancer.setSuperclass(controller);
		}
		enhancer.setClassLoader(controller.getClassLoader());
		enhancer.setNamingPolicy(SpringNamingPolicy.INSTANCE);
		enhancer.setCallbackFilter(FILTER);
		enhancer.setCallbackTypes(new Class<?>[] { MethodInterceptor.class, NoOp.class });
		Class<?> type = enhancer.createClass();
		return new RequestProxies(new SpringObjenesis().getInstantiatorOf(type));
	}

	/**
	 * A proxy that calls the controller through a caller.
	 */
	Object proxy(Object controller, Caller caller) {
		Object proxy = this.instantiator.newInstance();
		MethodInterceptor interceptor = (self, method, arguments, unused) -> caller.call(() -> {
			try {
				ReflectionUtils.makeAccessible(method);
				return method.invoke(controller, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		});
		((Factory) proxy).setCallbacks(new Callback[] { interceptor, NoOp.INSTANCE });
		return proxy;
	}

	/** Runs a method of the controller. */
	@FunctionalInterface
	interface Caller {

		@Nullable Object call(CurrentCall.Work work) throws Throwable;

	}

}
