package dev.ratelimit.admin;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Bounds the bodies that the admin API reads on the reactive stack, whatever size the
 * application allows elsewhere. A separate management port has this filter too.
 */
public final class BodyLimitWebFilter implements WebFilter {

	private final Predicate<String> paths;

	public BodyLimitWebFilter(Predicate<String> paths) {
		this.paths = paths;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		String path = exchange.getRequest().getPath().pathWithinApplication().value();
		return chain.filter(this.paths.test(path)
				? exchange.mutate().request(new Bounded(exchange.getRequest())).build() : exchange);
	}

	private static final class Bounded extends ServerHttpRequestDecorator {

		Bounded(ServerHttpRequest request) {
			super(request);
		}

		@Override
		public Flux<DataBuffer> getBody() {
			AtomicLong left = new AtomicLong(AdminController.MOST_BYTES);
			return super.getBody().handle((buffer, sink) -> {
				if (left.addAndGet(-buffer.readableByteCount()) < 0) {
					DataBufferUtils.release(buffer);
					sink.error(new DataBufferLimitException("the body is too large"));
				}
				else {
					sink.next(buffer);
				}
			});
		}

	}

}
