package dev.ratelimit.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;
import dev.ratelimit.web.reactive.ExchangeDecisions;
import dev.ratelimit.web.reactive.ExchangeWebCall;

/**
 * The exchange that a method works for. Found in the subscriber's context, or by the
 * thread exactly while a handler runs that is no publisher.
 */
final class ExchangeCurrentCall implements CurrentCall {

	/**
	 * Finds the call of a handler that is no publisher, while it runs.
	 */
	static final CurrentCall.Source SOURCE = new CurrentCall.Source(ExchangeCurrentCall::find, true);

	private static final ThreadLocal<@Nullable ExchangeCurrentCall> RUNNING = new ThreadLocal<>();

	private final ServerWebExchange exchange;

	private final WebCall facts;

	private final @Nullable Object observation;

	private @Nullable RateLimitedMethod decidedFor;

	private @Nullable MethodVerdict decided;

	ExchangeCurrentCall(ServerWebExchange exchange, WebCall facts, @Nullable Object observation) {
		this.exchange = exchange;
		this.facts = facts;
		this.observation = observation;
	}

	static @Nullable CurrentCall find() {
		return RUNNING.get();
	}

	/**
	 * The call that {@link ExchangeContextWebFilter} put into the context, {@code null}
	 * if there is none.
	 */
	static @Nullable Mono<CurrentCall> find(ContextView context) {
		ServerWebExchange exchange = ExchangeContextWebFilter.find(context);
		return (exchange != null) ? of(exchange, context).cast(CurrentCall.class) : null;
	}

	/**
	 * The call of an exchange, with its principal.
	 */
	static Mono<ExchangeCurrentCall> of(ServerWebExchange exchange, ContextView context) {
		Object observation = context.getOrDefault(CallTrace.Source.CONTEXT_KEY, null);
		return ExchangeWebCall.of(exchange).map((facts) -> new ExchangeCurrentCall(exchange, facts, observation));
	}

	@Override
	public @Nullable Object during(Work work) throws Throwable {
		ExchangeCurrentCall before = RUNNING.get();
		RUNNING.set(this);
		try {
			return work.run();
		}
		finally {
			if (before != null) {
				RUNNING.set(before);
			}
			else {
				RUNNING.remove();
			}
		}
	}

	/**
	 * Keeps the decision for a method until the method is called.
	 */
	void keepDecision(RateLimitedMethod method, MethodVerdict decision) {
		this.decidedFor = method;
		this.decided = decision;
	}

	@Override
	public @Nullable MethodVerdict takeDecision(RateLimitedMethod method) {
		MethodVerdict decision = (method == this.decidedFor) ? this.decided : null;
		if (decision != null) {
			this.decided = null;
		}
		return decision;
	}

	@Override
	public @Nullable Object observation() {
		return this.observation;
	}

	@Override
	public WebCall facts() {
		return this.facts;
	}

	@Override
	public CallDecisions decisions(HttpAnswers answers) {
		return ExchangeDecisions.of(this.exchange, answers);
	}

	@Override
	public void announce(Decision decision, CallDecisions.Edge edge, HttpAnswers answers) {
		decisions(answers).add(decision, edge, false);
	}

}
