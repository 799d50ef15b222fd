package dev.ratelimit.actuate;

import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.web.server.authorization.ServerAccessDeniedHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Adds to the trail what a reactive security chain has turned away, and lets another
 * handler answer. Spring Security tells nobody else on this stack, so an application adds
 * this to the chain of its management port itself.
 */
public final class AuditedAccessDeniedHandler implements ServerAccessDeniedHandler {

	private final DeniedAttempts attempts;

	private final ServerAccessDeniedHandler handler;

	/**
	 * Creates a handler.
	 * @param handler writes the answer
	 */
	public AuditedAccessDeniedHandler(DeniedAttempts attempts, ServerAccessDeniedHandler handler) {
		this.attempts = attempts;
		this.handler = handler;
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange, AccessDeniedException denied) {
		ServerHttpRequest request = exchange.getRequest();
		return exchange.getPrincipal()
			.doOnNext((principal) -> this.attempts.denied(principal, request.getMethod().name(),
					request.getPath().pathWithinApplication().value()))
			.then(this.handler.handle(exchange, denied));
	}

}
