package dev.ratelimit.web.reactive;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.PathContainer;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.WebCall;

/**
 * A call that came through the reactive stack.
 */
public final class ExchangeWebCall implements WebCall {

	// Spelled out: an application need have neither the gateway nor WebFlux's handlers.
	static final String GATEWAY_ROUTE = "org.springframework.cloud.gateway.support.ServerWebExchangeUtils.gatewayRoute";

	static final String MATCHED_PATH = "org.springframework.cloud.gateway.support.ServerWebExchangeUtils.gatewayPredicatePathContainer";

	static final String PATTERN = "org.springframework.web.reactive.HandlerMapping.bestMatchingPattern";

	private final ServerWebExchange exchange;

	private final @Nullable String route;

	private final @Nullable Principal principal;

	private final @Nullable Throwable principalFailure;

	private ExchangeWebCall(ServerWebExchange exchange, @Nullable String route, @Nullable Principal principal,
			@Nullable Throwable principalFailure) {
		this.exchange = exchange;
		this.route = route;
		this.principal = principal;
		this.principalFailure = principalFailure;
	}

	/**
	 * The call of an exchange, with the route that the gateway or a handler mapping has
	 * found for it. To be subscribed to in the context of the exchange: Spring Security
	 * keeps the principal there.
	 */
	public static Mono<WebCall> of(ServerWebExchange exchange) {
		return Mono.defer(() -> of(exchange, route(exchange)));
	}

	/**
	 * The call of an exchange whose route is known already. Never an error: a principal
	 * that fails is one that cannot be told.
	 */
	public static Mono<WebCall> of(ServerWebExchange exchange, @Nullable String route) {
		return exchange.getPrincipal()
			.map(Optional::of)
			.defaultIfEmpty(Optional.empty())
			.<WebCall>map((principal) -> new ExchangeWebCall(exchange, route, principal.orElse(null), null))
			.onErrorResume((failure) -> Mono.just(new ExchangeWebCall(exchange, route, null, failure)));
	}

	/** As it came in: what the gateway matched routes by, before filters rewrote it. */
	@Override
	public String rawPath() {
		if (this.exchange.getAttribute(MATCHED_PATH) instanceof PathContainer path) {
			return path.value();
		}
		return this.exchange.getRequest().getPath().value();
	}

	@Override
	public @Nullable String route() {
		return this.route;
	}

	@Override
	public List<String> headers(String name) {
		HttpHeaders headers = this.exchange.getRequest().getHeaders();
		if (headers.getFirst(name) == null) {
			return List.of();
		}
		// The one way to all values that Spring 6 and 7 have in common.
		List<String> all = new ArrayList<>();
		headers.forEach((header, values) -> {
			if (header.equalsIgnoreCase(name)) {
				all.addAll(values);
			}
		});
		return all;
	}

	@Override
	public @Nullable InetAddress remoteAddress() {
		InetSocketAddress address = this.exchange.getRequest().getRemoteAddress();
		return (address != null) ? address.getAddress() : null;
	}

	@Override
	public @Nullable Principal principal() {
		if (this.principalFailure != null) {
			throw new IllegalStateException("the principal failed", this.principalFailure);
		}
		return this.principal;
	}

	private static @Nullable String route(ServerWebExchange exchange) {
		Object route = exchange.getAttribute(GATEWAY_ROUTE);
		if (route != null) {
			return GatewayRoute.id(route);
		}
		Object pattern = exchange.getAttribute(PATTERN);
		return (pattern instanceof PathPattern template) ? template.getPatternString() : null;
	}

	/** Loaded only where there is a gateway. */
	private static final class GatewayRoute {

		static @Nullable String id(Object route) {
			return (route instanceof Route known) ? known.getId() : null;
		}

	}

}
