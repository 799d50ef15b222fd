package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Objects;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInvocation;
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
	 * @param threadCall the call of the thread that called the method
	 * @param traces finds traces, that of the same thread if the context has none
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
	 * The method's publisher after a decision.
	 * @throws RateLimitExceededException if the call is refused
	 */
	Object decided(MethodVerdict decision) {
		try {
			this.check.enforce(this.method, decision, this.threadCall, this.traces.find(null));
		}
		catch (RateLimitExceededException ex) {
			if (this.method.fallback() == null) {
				throw ex;
			}
			return this.adapter.fromPublisher(refused(ex));
		}
		return this.adapter.fromPublisher(proceed(decision));
	}

	/**
	 * A publisher whose call is decided at each subscription. The method is only called
	 * if the decision allows it and the subscription was not cancelled.
	 */
	Object decidedOnSubscription() {
		return this.adapter
			.fromPublisher(isStream() ? Flux.deferContextual((context) -> work(context).flatMapMany(Supplier::get))
					: Mono.deferContextual((context) -> work(context).flatMap((work) -> Mono.from(work.get()))));
	}

	/** The method itself, or its fallback for a refused call. */
	private Mono<Supplier<Publisher<?>>> work(ContextView context) {
		Mono<Supplier<Publisher<?>>> work = admitted(context).map((admitted) -> () -> proceed(admitted));
		return (this.method.fallback() == null) ? work
				: work.onErrorResume(RateLimitExceededException.class, (ex) -> Mono.just(() -> refused(ex)));
	}

	private Publisher<?> refused(RateLimitExceededException refusal) {
		try {
			return this.adapter.toPublisher(this.method.refused(this.invocation, refusal));
		}
		catch (Throwable ex) {
			return Flux.error(ex);
		}
	}

	private Mono<MethodVerdict> admitted(ContextView context) {
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

	private Mono<MethodVerdict> admitted(CurrentCall call, CallTrace trace) {
		return ReactiveRateLimiter.decided(this.check.decide(this.method, this.invocation.getArguments(), call))
			.doOnNext((decided) -> this.check.enforce(this.method, decided, call, trace));
	}

	private Publisher<?> proceed(MethodVerdict decision) {
		try {
			MethodInvocation invocation = RateLimitedAspect.copy(this.invocation);
			this.method.pass(decision, invocation.getArguments());
			return this.adapter.toPublisher(invocation.proceed());
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
