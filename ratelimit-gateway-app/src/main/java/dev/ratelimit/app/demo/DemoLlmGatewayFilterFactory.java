package dev.ratelimit.app.demo;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;

/**
 * Stands in for a language model: {@code DemoLlm}, the last filter of a route to
 * {@code no://op}, answers with a random number of tokens, as JSON or, with
 * {@code ?stream=true}, as server-sent events.
 */
class DemoLlmGatewayFilterFactory extends AbstractGatewayFilterFactory<Object> {

	private static final int MOST_TOKENS = 600;

	DemoLlmGatewayFilterFactory() {
		super(Object.class);
	}

	@Override
	public GatewayFilter apply(Object config) {
		return (exchange, chain) -> answer(exchange);
	}

	private static Mono<Void> answer(ServerWebExchange exchange) {
		int tokens = ThreadLocalRandom.current().nextInt(1, MOST_TOKENS + 1);
		String usage = "\"usage\":{\"total_tokens\":" + tokens + "}";
		ServerHttpResponse response = exchange.getResponse();
		if (!"true".equals(exchange.getRequest().getQueryParams().getFirst("stream"))) {
			response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
			return response.writeWith(text(response, Flux.just("{\"answer\":\"42\"," + usage + "}\n")));
		}
		response.getHeaders().setContentType(MediaType.TEXT_EVENT_STREAM);
		Flux<String> words = Flux.fromStream(IntStream.rangeClosed(1, 3).mapToObj((i) -> "{\"word\":" + i + "}"));
		return response.writeWith(text(response,
				Flux.concat(words, Flux.just("{" + usage + "}", "[DONE]")).map((event) -> "data: " + event + "\n\n")));
	}

	private static Flux<DataBuffer> text(ServerHttpResponse response, Flux<String> parts) {
		return parts.map((part) -> response.bufferFactory().wrap(part.getBytes(StandardCharsets.UTF_8)));
	}

}
