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

	/** A plain value: the method waits for the decision. */
	VALUE,

	/** A {@link CompletionStage}: the method runs after the decision. */
	STAGE,

	/** A publisher: each subscription is a call. */
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
	 * The type that advice sees: a publisher for suspending functions of Kotlin.
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
