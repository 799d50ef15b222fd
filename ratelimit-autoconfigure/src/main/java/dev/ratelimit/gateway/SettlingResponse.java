package dev.ratelimit.gateway;

import java.util.Locale;

import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClientResponse;

import dev.ratelimit.Decision;
import dev.ratelimit.Settling;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.reactive.TappedResponse;

/**
 * A response of an upstream whose body or trailer may name the true cost of its request.
 */
final class SettlingResponse extends TappedResponse {

	private static final String ACCEPT_ENCODING = "Accept-Encoding";

	SettlingResponse(ServerWebExchange exchange) {
		super(exchange);
	}

	/**
	 * The exchange, with a request that asks the upstream for a body that can be read: a
	 * caller must not escape its true cost by an encoding of its choice.
	 */
	static ServerWebExchange readable(ServerWebExchange exchange) {
		CallDecisions decisions = exchange.getAttribute(CallDecisions.ATTRIBUTE);
		String accepted = exchange.getRequest().getHeaders().getFirst(ACCEPT_ENCODING);
		if (decisions == null || accepted == null
				|| decisions.settling().stream().noneMatch(SettlingResponse::isRead)) {
			return exchange;
		}
		String encoding = accepted.toLowerCase(Locale.ROOT).contains("gzip") ? "gzip" : "identity";
		return exchange.mutate()
			.request((request) -> request.headers((headers) -> headers.set(ACCEPT_ENCODING, encoding)))
			.build();
	}

	private static boolean isRead(Decision decision) {
		Settling settling = decision.receipt().settling();
		return settling != null && !settling.json().isEmpty();
	}

	@Override
	protected Mono<String> trailer(String name) {
		Object response = exchange().getAttribute(ServerWebExchangeUtils.CLIENT_RESPONSE_ATTR);
		return (response instanceof HttpClientResponse upstream)
				? upstream.trailerHeaders().mapNotNull((trailers) -> trailers.get(name)) : Mono.empty();
	}

}
