package dev.ratelimit.actuate;

import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.web.server.authorization.ServerAccessDeniedHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Records what a reactive security chain refuses in the audit trail, and lets another
 * handler answer. Spring Security publishes no event on this stack, so the application
 * adds this handler to the chain of its management port.
 */
public final class AuditedAccessDeniedHandler implements ServerAccessDeniedHandler {

	private final DeniedAttempts attempts;

	private final ServerAccessDeniedHandler handler;

	/**
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
