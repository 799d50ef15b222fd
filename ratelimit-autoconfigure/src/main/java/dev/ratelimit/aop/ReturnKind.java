package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/**
 * How a method gives its result, which decides when and how it can be checked.
 */
enum ReturnKind {

	/** When it returns, so that the decision has to be waited for. */
	VALUE,

	/** Through a {@link CompletionStage}, so that the decision can come first. */
	STAGE,

	/** To whoever subscribes; each subscription is a call. */
	PUBLISHER;

	/** Servlet applications need not have Reactor. */
	static final boolean REACTOR = ClassUtils.isPresent("reactor.core.publisher.Flux",
			ReturnKind.class.getClassLoader());

	/**
	 * Spring can call suspending functions only with this library, which needs Reactor.
	 */
	private static final boolean COROUTINES = ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt",
			ReturnKind.class.getClassLoader());

	/**
	 * What a method returns to advice: Spring makes a publisher of what Kotlin suspends.
	 */
	static Class<?> type(Method method) {
		return (COROUTINES && KotlinDetector.isSuspendingFunction(method)) ? ReactiveMethod.suspending(method)
				: method.getReturnType();
	}

	static ReturnKind of(Class<?> type) {
		if (CompletionStage.class.isAssignableFrom(type)) {
			return type.isAssignableFrom(CompletableFuture.class) ? STAGE : VALUE;
		}
		boolean reactive = REACTOR && ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
		return reactive ? PUBLISHER : VALUE;
	}

}
