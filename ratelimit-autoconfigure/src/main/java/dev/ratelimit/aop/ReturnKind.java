package dev.ratelimit.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

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

	static ReturnKind of(Class<?> type) {
		if (CompletionStage.class.isAssignableFrom(type)) {
			return type.isAssignableFrom(CompletableFuture.class) ? STAGE : VALUE;
		}
		boolean reactive = REACTOR && ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
		return reactive ? PUBLISHER : VALUE;
	}

}
