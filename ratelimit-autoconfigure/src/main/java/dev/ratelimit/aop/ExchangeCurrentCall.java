package dev.ratelimit.aop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;
import dev.ratelimit.web.reactive.ExchangeWebCall;

/**
 * The exchange that something is done for: found in the context of whoever subscribes,
 * or, exactly while a handler that is no publisher runs, by its thread.
 */
public final class ExchangeCurrentCall implements CurrentCall {

	/**
	 * Finds the call of a handler that is no publisher, while it runs.
	 */
	public static final CurrentCall.Source SOURCE = new CurrentCall.Source() {

		@Override
		public @Nullable CurrentCall find() {
			return ExchangeCurrentCall.find();
		}

		@Override
		public boolean mayMissCalls() {
			return true;
		}

	};

	private static final String DECISIONS = ExchangeCurrentCall.class.getName() + ".decisions";

	private static final ThreadLocal<@Nullable ExchangeCurrentCall> RUNNING = new ThreadLocal<>();

	private final ServerWebExchange exchange;

	private final WebCall facts;

	private final @Nullable Object observation;

	private @Nullable RateLimitedMethod decidedFor;

	private @Nullable Decision decided;

	ExchangeCurrentCall(ServerWebExchange exchange, WebCall facts, @Nullable Object observation) {
		this.exchange = exchange;
		this.facts = facts;
		this.observation = observation;
	}

	static @Nullable CurrentCall find() {
		return RUNNING.get();
	}

	/**
	 * The call that {@link ExchangeContextWebFilter} left in the context, {@code null} if
	 * it was not there.
	 */
	static @Nullable Mono<CurrentCall> find(ContextView context) {
		ServerWebExchange exchange = ExchangeContextWebFilter.find(context);
		return (exchange != null) ? of(exchange, context).cast(CurrentCall.class) : null;
	}

	/**
	 * The call of an exchange, with who makes it.
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
	 * Keeps what was decided for a method until it is called.
	 */
	void decide(RateLimitedMethod method, Decision decision) {
		this.decidedFor = method;
		this.decided = decision;
	}

	@Override
	public @Nullable Decision decided(RateLimitedMethod method) {
		Decision decision = (method == this.decidedFor) ? this.decided : null;
		if (decision != null) {
			this.decided = null;
		}
		return decision;
	}

	@Override
	public @Nullable Object observation() {
		return this.observation;
	}

	/**
	 * Takes back what was announced: a refusal has headers of its own.
	 */
	static void forget(ServerWebExchange exchange) {
		List<Decision> decisions = exchange.getAttribute(DECISIONS);
		if (decisions != null) {
			decisions.clear();
		}
	}

	@Override
	public WebCall facts() {
		return this.facts;
	}

	@Override
	public void announce(Decision decision, HttpAnswers answers) {
		List<Decision> decisions = new CopyOnWriteArrayList<>(List.of(decision));
		@SuppressWarnings("unchecked")
		List<Decision> before = (List<Decision>) this.exchange.getAttributes().putIfAbsent(DECISIONS, decisions);
		if (before != null) {
			before.add(decision);
			return;
		}
		ServerHttpResponse response = this.exchange.getResponse();
		// As late as possible, so that they replace what the handler sets.
		response.beforeCommit(() -> {
			answers.answer(decisions, null).headers().forEach(response.getHeaders()::set);
			return Mono.empty();
		});
	}

}
