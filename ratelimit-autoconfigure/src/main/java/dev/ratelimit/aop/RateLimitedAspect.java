package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.util.ClassUtils;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;

/**
 * Checks calls of methods with {@link RateLimited}: resolves the request, asks the
 * limiter, then proceeds or refuses.
 */
final class RateLimitedAspect implements MethodInterceptor {

	private final RateLimitedMethods methods;

	private final List<CallLimits.Edge> edges;

	private final MethodCheck check;

	private final CurrentCall.Source currentCall;

	private final CallTrace.Source traces;

	private final Executor executor;

	/**
	 * @param methods the same as the advisor's
	 * @param edges limit calls before they come here
	 * @param executor runs methods that return a {@link CompletionStage} if the decision
	 * was pending: they must not occupy the threads that decisions come from
	 */
	RateLimitedAspect(RateLimitedMethods methods, List<CallLimits.Edge> edges, RequestResolver resolver,
			RateLimiter limiter, HttpAnswers answers, CurrentCall.Source currentCall, CallTrace.Source traces,
			Executor executor, List<DecisionListener> listeners) {
		this.methods = methods;
		this.edges = List.copyOf(edges);
		this.check = new MethodCheck(resolver, limiter, answers, listeners);
		this.currentCall = currentCall;
		this.traces = traces;
		this.executor = (task) -> {
			try {
				executor.execute(task);
			}
			catch (RejectedExecutionException ex) {
				// A full executor must not fail a call that was let pass.
				task.run();
			}
		};
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> type = (target != null) ? ClassUtils.getUserClass(target) : invocation.getMethod().getDeclaringClass();
		RateLimitedMethod method = this.methods.find(invocation.getMethod(), type);
		if (method == null || isLimitedBefore(type, invocation.getMethod())) {
			return invocation.proceed();
		}
		CurrentCall found = this.currentCall.finder().get();
		CurrentCall call = (found != null) ? found : NoCall.of(method, mayMissCall(method));
		CallTrace trace = this.traces.find(call.observation());
		return switch (method.returns()) {
			case VALUE -> value(method, invocation, call, trace);
			case STAGE -> stage(method, invocation, call, trace);
			case PUBLISHER -> publisher(method, invocation, call, trace);
		};
	}

	private boolean isLimitedBefore(Class<?> type, Method method) {
		for (int i = 0; i < this.edges.size(); i++) {
			if (this.edges.get(i).hasLimited(type, method)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The check, which the handler adapter uses too.
	 */
	MethodCheck check() {
		return this.check;
	}

	private @Nullable Object value(RateLimitedMethod method, MethodInvocation invocation, CurrentCall call,
			CallTrace trace) throws Throwable {
		MethodVerdict decided = call.takeDecision(method);
		if (decided == null) {
			decided = mustNotBlock() ? this.check.decideNow(method, invocation.getArguments(), call)
					: await(method, invocation, call);
		}
		return admitted(method, decided, invocation, call, trace).run();
	}

	private Object stage(RateLimitedMethod method, MethodInvocation invocation, CurrentCall call, CallTrace trace) {
		CompletableFuture<MethodVerdict> decision = this.check.decide(method, invocation.getArguments(), call);
		if (decision.isDone()) {
			return stage(method, decision.join(), invocation, call, trace);
		}
		MethodInvocation later = copy(invocation);
		return decision.thenComposeAsync((decided) -> stage(method, decided, later, call, trace), this.executor);
	}

	private CompletableFuture<?> stage(RateLimitedMethod method, MethodVerdict decision, MethodInvocation invocation,
			CurrentCall call, CallTrace trace) {
		try {
			CompletionStage<?> stage = (CompletionStage<?>) call
				.during(admitted(method, decision, invocation, call, trace));
			return (stage != null) ? stage.toCompletableFuture() : CompletableFuture.completedFuture(null);
		}
		catch (Throwable ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/** The method itself, or its fallback. */
	private CurrentCall.Work admitted(RateLimitedMethod method, MethodVerdict decision, MethodInvocation invocation,
			CurrentCall call, CallTrace trace) {
		try {
			this.check.enforce(method, decision, call, trace);
			method.pass(decision, invocation.getArguments());
			return invocation::proceed;
		}
		catch (RateLimitExceededException ex) {
			return () -> method.refused(invocation, ex);
		}
	}

	private Object publisher(RateLimitedMethod method, MethodInvocation invocation, CurrentCall call, CallTrace trace) {
		ReactiveMethod reactive = new ReactiveMethod(this.check, method, copy(invocation), call,
				(observation) -> (observation != null) ? this.traces.find(observation) : trace);
		// A servlet sends the head of a stream before it subscribes: too late for a 429.
		boolean first = !(call instanceof NoCall) && method.handler() && reactive.isStream() && !mustNotBlock();
		return first ? reactive.decided(await(method, invocation, call)) : reactive.decidedOnSubscription();
	}

	/** The limiter has a deadline, so this ends. */
	private MethodVerdict await(RateLimitedMethod method, MethodInvocation invocation, CurrentCall call) {
		return this.check.decide(method, invocation.getArguments(), call).join();
	}

	/** Publishers find their call in the subscriber's context instead. */
	private boolean mayMissCall(RateLimitedMethod method) {
		return method.returns() != ReturnKind.PUBLISHER && this.currentCall.mayMissCalls() && mustNotBlock();
	}

	private static boolean mustNotBlock() {
		return ReturnKind.REACTOR && ReactiveMethod.mustNotBlock();
	}

	/** An invocation can be used once, and only by its own thread. */
	static MethodInvocation copy(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone() : invocation;
	}

}
