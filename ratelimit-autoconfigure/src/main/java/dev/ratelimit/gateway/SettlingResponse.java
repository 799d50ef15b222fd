package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

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

	/** Without a weight, or with one above 0. */
	private static final Pattern GZIP = Pattern
		.compile("\\s*(x-)?gzip\\s*(;\\s*q\\s*=\\s*(1(\\.0*)?|0\\.\\d*[1-9]\\d*)\\s*)?");

	SettlingResponse(ServerWebExchange exchange) {
		super(exchange);
	}

	/**
	 * The exchange, with a request that asks the upstream for a body that can be read: a
	 * caller must not escape its true cost by an encoding of its choice.
	 */
	static ServerWebExchange readable(ServerWebExchange exchange) {
		CallDecisions decisions = exchange.getAttribute(CallDecisions.ATTRIBUTE);
		List<String> accepted = new ArrayList<>();
		exchange.getRequest().getHeaders().forEach((name, values) -> {
			if (name.equalsIgnoreCase(ACCEPT_ENCODING)) {
				accepted.addAll(values);
			}
		});
		if (decisions == null || accepted.isEmpty()
				|| decisions.settling().stream().noneMatch(SettlingResponse::isRead)) {
			return exchange;
		}
		String encoding = acceptsGzip(accepted) ? "gzip" : "identity";
		return exchange.mutate()
			.request((request) -> request.headers((headers) -> headers.set(ACCEPT_ENCODING, encoding)))
			.build();
	}

	/** Whether the caller names gzip and does not refuse it by a weight of 0. */
	private static boolean acceptsGzip(List<String> accepted) {
		return Arrays.stream(String.join(",", accepted).toLowerCase(Locale.ROOT).split(","))
			.anyMatch((coding) -> GZIP.matcher(coding).matches());
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
