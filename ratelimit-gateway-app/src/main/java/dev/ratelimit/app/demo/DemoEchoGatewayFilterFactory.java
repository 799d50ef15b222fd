package dev.ratelimit.app.demo;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import reactor.core.publisher.Mono;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;

/**
 * Stands in for an upstream: {@code DemoEcho}, the last filter of a route to
 * {@code no://op}, answers with what an upstream would have been asked. A filter and not
 * a controller, so that no path leads to it except through a route and its limits.
 */
class DemoEchoGatewayFilterFactory extends AbstractGatewayFilterFactory<Object> {

	private static final ObjectMapper JSON = new ObjectMapper();

	DemoEchoGatewayFilterFactory() {
		super(Object.class);
	}

	@Override
	public GatewayFilter apply(Object config) {
		return (exchange, chain) -> echo(exchange);
	}

	private static Mono<Void> echo(ServerWebExchange exchange) {
		ServerHttpRequest request = exchange.getRequest();
		Map<String, String> answer = new LinkedHashMap<>();
		answer.put("method", request.getMethod().name());
		answer.put("path", request.getPath().value());
		ServerHttpResponse response = exchange.getResponse();
		response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
		return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(json(answer))));
	}

	private static byte[] json(Map<String, String> answer) {
		try {
			return (JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8);
		}
		catch (JsonProcessingException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
