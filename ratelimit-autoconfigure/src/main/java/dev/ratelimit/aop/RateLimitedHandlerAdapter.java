package dev.ratelimit.aop;

import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodClassKey;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.reactive.EventLoops;

/**
 * Limits WebFlux handlers that are no publishers. The package Javadoc describes how.
 */
final class RateLimitedHandlerAdapter implements HandlerAdapter, Ordered, SmartInitializingSingleton {

	private static final Object[] NO_ARGUMENTS = {};

	private final RateLimitedMethods methods;

	private final MethodCheck check;

	private final CallTrace.Source traces;

	private final RateLimitedWebExceptionHandler refusals;

	private final BlockingHandlers blocking;

	private final ApplicationContext context;

	private final SingletonSupplier<List<HandlerAdapter>> others;

	private final EventLoops loops = new EventLoops();

	private final Map<MethodClassKey, Plan> plans = new ConcurrentHashMap<>();

	/**
	 * @param methods the same as the aspect's
	 * @param aspect enforces the decisions that are made here
	 * @param refusals answers refusals
	 * @param context has the adapters that call handlers
	 */
	RateLimitedHandlerAdapter(RateLimitedMethods methods, RateLimitedAspect aspect, CallTrace.Source traces,
			RateLimitedWebExceptionHandler refusals, BlockingHandlers blocking, ApplicationContext context) {
		this.methods = methods;
		this.check = aspect.check();
		this.traces = traces;
		this.refusals = refusals;
		this.blocking = blocking;
		this.context = context;
		this.others = SingletonSupplier.of(() -> context.getBeanProvider(HandlerAdapter.class)
			.orderedStream()
			.filter((adapter) -> adapter != this)
			.toList());
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	/** A handler that cannot be limited fails the start, not the first request. */
	@Override
	public void afterSingletonsInstantiated() {
		this.context.getBeanProvider(RequestMappingInfoHandlerMapping.class)
			.forEach((mapping) -> mapping.getHandlerMethods().values().forEach(this::plan));
	}

	@Override
	public boolean supports(Object handler) {
		return handler instanceof HandlerMethod method && plan(method) != Plan.NONE;
	}

	@Override
	public Mono<HandlerResult> handle(ServerWebExchange exchange, Object handler) {
		HandlerMethod method = (HandlerMethod) handler;
		Plan plan = plan(method);
		if (plan.method() == null) {
			return proceed(exchange, method, plan, CurrentCall.Work::run);
		}
		return Mono.deferContextual((context) -> ExchangeCurrentCall.of(exchange, context)
			.flatMap((call) -> handle(exchange, method, plan, call)));
	}

	private Mono<HandlerResult> handle(ServerWebExchange exchange, HandlerMethod handler, Plan plan,
			ExchangeCurrentCall call) {
		RateLimitedMethod method = plan.method();
		if (method == null || !plan.decidesFirst()) {
			return proceed(exchange, handler, plan, call::during);
		}
		Mono<MethodVerdict> decision = this.loops.decided(this.check.decide(method, NO_ARGUMENTS, call), exchange);
		return decision.flatMap((decided) -> {
			Decision refusal = decided.refusal();
			if (refusal == null || method.fallback() != null
					|| this.refusals.handlers().find(handler.getBeanType()).inController()) {
				call.keepDecision(method, decided);
				return proceed(exchange, handler, plan, call::during);
			}
			return refuse(exchange, this.check.refusal(method, refusal, this.traces.find(call.observation())));
		});
	}

	private Mono<HandlerResult> proceed(ServerWebExchange exchange, HandlerMethod handler, Plan plan,
			RequestProxies.Caller caller) {
		RequestProxies proxies = plan.proxies();
		Refused refused = new Refused(plan.catches());
		Object controller = (proxies != null) ? proxies.proxy(handler.getBean(), (work) -> refused.run(caller, work))
				: handler.getBean();
		HandlerMethod bound = new BoundHandlerMethod(handler, controller, plan.mayBlock());
		Mono<HandlerResult> result = next(bound).handle(exchange, bound);
		if (!plan.catches()) {
			return result;
		}
		return result.doOnNext((given) -> given.setExceptionHandler(before(given.getExceptionHandler())))
			.filter((given) -> refused.refusal == null)
			.switchIfEmpty(Mono.defer(
					() -> (refused.refusal != null) ? refuse(exchange, refused.refusal) : Mono.<HandlerResult>empty()));
	}

	private HandlerAdapter next(HandlerMethod handler) {
		for (HandlerAdapter adapter : this.others.obtain()) {
			if (adapter.supports(handler)) {
				return adapter;
			}
		}
		throw new IllegalStateException("no HandlerAdapter for " + handler);
	}

	/** Answers the refusals of publishers before the controller handles them. */
	private DispatchExceptionHandler before(@Nullable DispatchExceptionHandler controller) {
		return (exchange, ex) -> {
			RateLimitExceededException refusal = RateLimitExceededException.in(ex);
			if (refusal != null && !exchange.getResponse().isCommitted()) {
				return refuse(exchange, refusal);
			}
			return (controller != null) ? controller.handleError(exchange, ex) : Mono.error(ex);
		};
	}

	private Mono<HandlerResult> refuse(ServerWebExchange exchange, RateLimitExceededException refusal) {
		return this.refusals.refuse(exchange, refusal).then(Mono.empty());
	}

	private Plan plan(HandlerMethod handler) {
		MethodClassKey key = new MethodClassKey(handler.getMethod(), handler.getBeanType());
		Plan plan = this.plans.get(key);
		if (plan == null) {
			plan = newPlan(handler);
			this.plans.put(key, plan);
		}
		return plan;
	}

	private Plan newPlan(HandlerMethod handler) {
		RateLimitedMethod method = this.methods.find(handler.getMethod(), handler.getBeanType());
		RateLimitedMethod bound = (method != null && method.returns() != ReturnKind.PUBLISHER) ? method : null;
		boolean catches = this.refusals.handlers().find(handler.getBeanType()).caughtByController();
		if (bound == null && !catches) {
			return Plan.NONE;
		}
		boolean value = bound != null && bound.returns() == ReturnKind.VALUE;
		boolean mayBlock = bound != null && value && bound.needsArguments();
		if (bound != null && mayBlock && !this.blocking.arePossible()) {
			throw new IllegalStateException("@RateLimited on " + bound.name()
					+ ": 'cost', 'key' and 'condition' are expressions over arguments, so WebFlux has to call this method on a"
					+ " thread that may block, which cannot be set up because the application defines its own"
					+ " RequestMappingHandlerAdapter. Let the method return a Mono or a Flux, or configure WebFlux"
					+ " through a WebFluxConfigurer instead");
		}
		RequestProxies proxies = (bound != null) ? RequestProxies.of(handler.getBeanType())
				: proxiesIfPossible(handler);
		return new Plan(bound, value && !mayBlock, mayBlock, catches, proxies);
	}

	/**
	 * A handler without a limit keeps working if no proxy can override it: then only the
	 * refusals of publishers are kept from the controller.
	 */
	private static @Nullable RequestProxies proxiesIfPossible(HandlerMethod handler) {
		Class<?> type = handler.getBeanType();
		boolean possible = RateLimitedMethods.canBeOverridden(handler.getMethod(), type)
				&& !Modifier.isFinal(type.getModifiers()) && !KotlinDetector.isSuspendingFunction(handler.getMethod());
		try {
			return possible ? RequestProxies.of(type) : null;
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	/**
	 * How a handler is called.
	 *
	 * @param method the limited method, {@code null} if it is not limited here
	 * @param decidesFirst whether the call is decided before its arguments are known
	 * @param mayBlock whether the handler's thread waits for the decision
	 * @param catches whether the controller would handle refusals like any exception
	 * @param proxies proxies of the controller, {@code null} if none are possible
	 */
	private record Plan(@Nullable RateLimitedMethod method, boolean decidesFirst, boolean mayBlock, boolean catches,
			@Nullable RequestProxies proxies) {

		static final Plan NONE = new Plan(null, false, false, false, null);

	}

	/** Keeps a refusal from a controller that would handle it like any exception. */
	private static final class Refused {

		private final boolean catches;

		private volatile @Nullable RateLimitExceededException refusal;

		Refused(boolean catches) {
			this.catches = catches;
		}

		@Nullable Object run(RequestProxies.Caller caller, CurrentCall.Work work) throws Throwable {
			try {
				return caller.call(work);
			}
			catch (RateLimitExceededException ex) {
				if (!this.catches) {
					throw ex;
				}
				this.refusal = ex;
				return null;
			}
		}

	}

}
