package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.List;

import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClientResponse;

import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.ReadableEncoding;
import dev.ratelimit.web.reactive.TappedResponse;

/**
 * A response of an upstream whose body or trailer may name the true cost of its request.
 */
final class SettlingResponse extends TappedResponse {

	SettlingResponse(ServerWebExchange exchange) {
		super(exchange);
	}

	/**
	 * The exchange, with a request that asks the upstream for a body that can be read: a
	 * caller must not escape its true cost by an encoding of its choice.
	 */
	static ServerWebExchange readable(ServerWebExchange exchange) {
		List<String> accepted = new ArrayList<>();
		exchange.getRequest().getHeaders().forEach((name, values) -> {
			if (name.equalsIgnoreCase(ReadableEncoding.HEADER)) {
				accepted.addAll(values);
			}
		});
		String encoding = ReadableEncoding.of(exchange.getAttribute(CallDecisions.ATTRIBUTE), accepted);
		return (encoding == null) ? exchange
				: exchange.mutate()
					.request((request) -> request.headers((headers) -> headers.set(ReadableEncoding.HEADER, encoding)))
					.build();
	}

	@Override
	protected Mono<String> trailer(String name) {
		Object response = exchange().getAttribute(ServerWebExchangeUtils.CLIENT_RESPONSE_ATTR);
		return (response instanceof HttpClientResponse upstream)
				? upstream.trailerHeaders().mapNotNull((trailers) -> trailers.get(name)) : Mono.empty();
	}

}
