package dev.ratelimit.admin;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

import org.springframework.core.Ordered;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.Json;

/**
 * Says what to do instead of {@code %2F} in a path of the admin API. Spring Security's
 * firewall, which is next, would turn it away without a word.
 */
public final class EncodedSlashWebFilter implements WebFilter, Ordered {

	/** Before Spring Security, which has -100. */
	private static final int ORDER = -200;

	private final Predicate<String> paths;

	/**
	 * Creates a filter.
	 * @param paths which paths are the admin API's
	 */
	public EncodedSlashWebFilter(Predicate<String> paths) {
		this.paths = paths;
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		String path = exchange.getRequest().getPath().pathWithinApplication().value();
		if (!path.toLowerCase(Locale.ROOT).contains("%2f") || !this.paths.test(path)) {
			return chain.filter(exchange);
		}
		ResponseEntity<Map<String, Object>> problem = AdminProblem
			.invalid("value", "A value with a slash in it cannot be in a path",
					"Write or delete the record with POST import, where the value is in the body.")
			.response();
		ServerHttpResponse response = exchange.getResponse();
		response.setStatusCode(problem.getStatusCode());
		response.getHeaders().set("Content-Type", "application/problem+json");
		byte[] body = Json.write(problem.getBody()).getBytes(StandardCharsets.UTF_8);
		return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
	}

}
