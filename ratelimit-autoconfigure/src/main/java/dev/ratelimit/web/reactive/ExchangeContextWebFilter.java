package dev.ratelimit.web.reactive;

import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Puts the exchange into Reactor's context, for code that gets no exchange. Runs as the
 * last filter, so that the exchange has its principal.
 */
public final class ExchangeContextWebFilter implements WebFilter, Ordered {

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		return chain.filter(exchange).contextWrite((context) -> context.put(ServerWebExchange.class, exchange));
	}

	/**
	 * The exchange that this filter or Spring's own has put into a context; {@code null}
	 * if there is none.
	 */
	public static @Nullable ServerWebExchange find(ContextView context) {
		ServerWebExchange exchange = context.getOrDefault(ServerWebExchange.class, null);
		return (exchange != null) ? exchange
				: context.getOrDefault(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, null);
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

}
