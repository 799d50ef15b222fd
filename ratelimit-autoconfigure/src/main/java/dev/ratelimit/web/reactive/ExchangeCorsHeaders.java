package dev.ratelimit.web.reactive;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import org.springframework.http.HttpStatusCode;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.reactive.CorsConfigurationSource;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.cors.reactive.DefaultCorsProcessor;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Gives an answer that comes before the application's CORS filter the headers that this
 * filter would have given it: otherwise a browser would hide a 429 and its Retry-After
 * from the script that made the request.
 */
public final class ExchangeCorsHeaders {

	private final Function<ServerWebExchange, Flux<WebFilter>> filters;

	private final Supplier<List<CorsConfigurationSource>> sources;

	private final Handlers handlers;

	private final DefaultCorsProcessor processor = new DefaultCorsProcessor();

	/**
	 * Creates it.
	 * @param filters the application's filters for an exchange
	 * @param sources settings that other filters use
	 * @param handlers find the handler of an exchange, which sets the headers that are
	 * configured for it
	 */
	public ExchangeCorsHeaders(Function<ServerWebExchange, Flux<WebFilter>> filters,
			Supplier<List<CorsConfigurationSource>> sources, Handlers handlers) {
		this.filters = filters;
		this.sources = sources;
		this.handlers = handlers;
	}

	/**
	 * Sets the headers and then writes the answer. An exchange from an origin that is not
	 * allowed gets the answer of CORS instead.
	 */
	Mono<Void> write(ServerWebExchange exchange, Supplier<Mono<Void>> answer) {
		if (!isCorsRequest(exchange)) {
			return answer.get();
		}
		return Flux.defer(() -> this.filters.apply(exchange))
			.distinct()
			.collectList()
			.flatMap((filters) -> write(filters, exchange,
					() -> isValid(exchange) ? byHandler(exchange, answer) : done(exchange)));
	}

	private static Mono<Void> write(List<WebFilter> filters, ServerWebExchange exchange, Supplier<Mono<Void>> answer) {
		return filters.isEmpty() ? answer.get() : filters.get(0)
			.filter(exchange, (next) -> write(filters.subList(1, filters.size()), exchange, answer));
	}

	/** Spring cannot read every origin that a caller may send. */
	private static boolean isCorsRequest(ServerWebExchange exchange) {
		try {
			return CorsUtils.isCorsRequest(exchange.getRequest());
		}
		catch (IllegalArgumentException | IllegalStateException ex) {
			return false;
		}
	}

	private boolean isValid(ServerWebExchange exchange) {
		for (CorsConfigurationSource source : this.sources.get()) {
			CorsConfiguration configuration = source.getCorsConfiguration(exchange);
			if (configuration != null && !this.processor.process(configuration, exchange)) {
				return false;
			}
		}
		return true;
	}

	private Mono<Void> byHandler(ServerWebExchange exchange, Supplier<Mono<Void>> answer) {
		if (exchange.getResponse().getHeaders().getFirst("Access-Control-Allow-Origin") != null) {
			return answer.get();
		}
		return this.handlers.find(exchange)
			.onErrorComplete()
			.then(Mono.defer(() -> isRejected(exchange) ? done(exchange) : answer.get()));
	}

	private static boolean isRejected(ServerWebExchange exchange) {
		HttpStatusCode status = exchange.getResponse().getStatusCode();
		return status != null && status.value() == 403;
	}

	private static Mono<Void> done(ServerWebExchange exchange) {
		return exchange.getResponse().setComplete();
	}

	/** Finds the handler of an exchange. */
	@FunctionalInterface
	public interface Handlers {

		Mono<?> find(ServerWebExchange exchange);

	}

}
