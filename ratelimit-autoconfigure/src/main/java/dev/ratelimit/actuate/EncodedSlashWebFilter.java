package dev.ratelimit.actuate;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

import org.springframework.core.Ordered;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.json.Json;

/**
 * Answers {@code %2F} in a path of the admin API with what to do instead. Spring
 * Security's firewall, which comes next, would refuse it without an explanation.
 */
record EncodedSlashWebFilter(AdminPaths paths) implements WebFilter, Ordered {

	/** Before Spring Security, which has -100. */
	private static final int ORDER = -200;

	@Override
	public int getOrder() {
		return ORDER;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		String path = exchange.getRequest().getPath().pathWithinApplication().value();
		if (!path.toLowerCase(Locale.ROOT).contains("%2f") || !this.paths.contain(path)) {
			return chain.filter(exchange);
		}
		ResponseEntity<Map<String, Object>> problem = AdminProblem
			.invalid("value", "A path cannot contain a value with a slash",
					"Write or delete the record with POST import, where the value is in the body.")
			.response();
		ServerHttpResponse response = exchange.getResponse();
		response.setStatusCode(problem.getStatusCode());
		response.getHeaders().set("Content-Type", "application/problem+json");
		byte[] body = Json.write(problem.getBody()).getBytes(StandardCharsets.UTF_8);
		return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
	}

}
