package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

import dev.ratelimit.Decision;
import dev.ratelimit.reactive.ReactiveRateLimiter;
import dev.ratelimit.web.CallTrace;

/**
 * One call of a method that returns a publisher. Loaded only where there is Reactor.
 */
final class ReactiveMethod {

	private static final boolean WEB = ClassUtils.isPresent("org.springframework.web.server.ServerWebExchange",
			ReactiveMethod.class.getClassLoader());

	private final MethodCheck check;

	private final RateLimitedMethod method;

	private final MethodInvocation invocation;

	private final CurrentCall threadCall;

	private final CallTrace.Source traces;

	private final ReactiveAdapter adapter;

	/**
	 * Creates one.
	 * @param threadCall the call of the thread that called the method
	 * @param traces finds traces, that of the same thread where the context has none
	 */
	ReactiveMethod(MethodCheck check, RateLimitedMethod method, MethodInvocation invocation, CurrentCall threadCall,
			CallTrace.Source traces) {
		this.check = check;
		this.method = method;
		this.invocation = invocation;
		this.threadCall = threadCall;
		this.traces = traces;
		this.adapter = Objects
			.requireNonNull(ReactiveAdapterRegistry.getSharedInstance().getAdapter(method.returnType()));
	}

	static boolean mustNotBlock() {
		return Schedulers.isInNonBlockingThread();
	}

	/**
	 * The publisher that Spring makes of a suspending function's result.
	 */
	static Class<?> suspending(Method method) {
		String result = new MethodParameter(method, -1).getParameterType().getName();
		return result.equals("kotlinx.coroutines.flow.Flow") ? Flux.class : Mono.class;
	}

	boolean isStream() {
		return this.adapter.isMultiValue();
	}

	/**
	 * The method's publisher, decided by now.
	 * @throws RateLimitExceededException if it was refused
	 */
	Object decided(Decision decision) {
		this.check.obey(decision, this.threadCall, this.traces.find(null));
		return this.adapter.fromPublisher(proceed());
	}

	/**
	 * A publisher that is decided each time somebody subscribes to it. The method is only
	 * called if the subscriber is still there and the decision lets it.
	 */
	Object decidedOnSubscription() {
		return this.adapter.fromPublisher(isStream()
				? Flux.deferContextual((context) -> admitted(context).flatMapMany((admitted) -> proceed()))
				: Mono.deferContextual((context) -> admitted(context).flatMap((admitted) -> Mono.from(proceed()))));
	}

	private Mono<Decision> admitted(ContextView context) {
		CallTrace trace = this.traces.find(context.getOrDefault(CallTrace.Source.CONTEXT_KEY, null));
		Mono<CurrentCall> exchange = WEB ? ExchangeCurrentCall.find(context) : null;
		if (exchange != null) {
			return exchange.flatMap((call) -> admitted(call, trace));
		}
		if (this.threadCall instanceof NoCall outside && NoCall.SECURITY) {
			return Security.principal()
				.map((principal) -> new NoCall(outside.route(), principal, false))
				.defaultIfEmpty(outside)
				.flatMap((call) -> admitted(call, trace));
		}
		return admitted(this.threadCall, trace);
	}

	private Mono<Decision> admitted(@Nullable CurrentCall call, CallTrace trace) {
		return mono(this.check.decide(this.method, this.invocation.getArguments(), call), call, trace);
	}

	private Mono<Decision> mono(CompletableFuture<Decision> decision, @Nullable CurrentCall call, CallTrace trace) {
		return ReactiveRateLimiter.decided(decision).doOnNext((decided) -> this.check.obey(decided, call, trace));
	}

	private Publisher<?> proceed() {
		try {
			return this.adapter.toPublisher(RateLimitedAspect.copy(this.invocation).proceed());
		}
		catch (Throwable ex) {
			return Flux.error(ex);
		}
	}

	/** Loaded only where there is Spring Security. */
	private static final class Security {

		static Mono<Principal> principal() {
			return ReactiveSecurityContextHolder.getContext().mapNotNull(SecurityContext::getAuthentication);
		}

	}

}
