package dev.ratelimit.web.reactive;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.http.HttpCookie;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.PathContainer;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

import dev.ratelimit.web.CheckCounts;
import dev.ratelimit.web.QueryParameters;
import dev.ratelimit.web.WebCall;

/**
 * A call that came through the reactive stack.
 */
public final class ExchangeWebCall implements WebCall {

	// Spelled out: an application need have neither the gateway nor WebFlux's handlers.
	static final String GATEWAY_ROUTE = "org.springframework.cloud.gateway.support.ServerWebExchangeUtils.gatewayRoute";

	static final String MATCHED_PATH = "org.springframework.cloud.gateway.support.ServerWebExchangeUtils.gatewayPredicatePathContainer";

	static final String PATTERN = "org.springframework.web.reactive.HandlerMapping.bestMatchingPattern";

	private static final MethodHandle HEADER_VALUES = headerValues();

	private final ServerWebExchange exchange;

	private final @Nullable String route;

	private final Signal<Principal> principal;

	private ExchangeWebCall(ServerWebExchange exchange, @Nullable String route, Signal<Principal> principal) {
		this.exchange = exchange;
		this.route = route;
		this.principal = principal;
	}

	/**
	 * The call of an exchange, with the route that the gateway or a handler mapping has
	 * found for it. Must be subscribed to in the context of the exchange: Spring Security
	 * keeps the principal there.
	 */
	public static Mono<WebCall> of(ServerWebExchange exchange) {
		return Mono.defer(() -> of(exchange, route(exchange)));
	}

	/**
	 * The call of an exchange whose route is known already. Never an error: if the
	 * principal fails, {@link #principal} throws.
	 */
	public static Mono<WebCall> of(ServerWebExchange exchange, @Nullable String route) {
		return exchange.getPrincipal()
			.materialize()
			.map((principal) -> new ExchangeWebCall(exchange, route, principal));
	}

	/**
	 * The call of an exchange without its principal.
	 */
	static WebCall anonymous(ServerWebExchange exchange) {
		return new ExchangeWebCall(exchange, null, Signal.complete());
	}

	/**
	 * Calls of an exchange whose routes are known before a handler is found, by route.
	 */
	static Mono<Function<String, WebCall>> routed(ServerWebExchange exchange) {
		return exchange.getPrincipal()
			.materialize()
			.map((principal) -> (route) -> new ExchangeWebCall(exchange, route, principal));
	}

	@Override
	public int countCheck(String policy) {
		Object counts = this.exchange.getAttributes()
			.computeIfAbsent(CheckCounts.ATTRIBUTE, (name) -> new CheckCounts());
		return ((CheckCounts) counts).count(policy);
	}

	/** The path that the gateway matched routes by, before filters rewrote it. */
	@Override
	public String rawPath() {
		if (this.exchange.getAttribute(MATCHED_PATH) instanceof PathContainer path) {
			return path.value();
		}
		return this.exchange.getRequest().getPath().value();
	}

	@Override
	public String method() {
		return this.exchange.getRequest().getMethod().name();
	}

	@Override
	public String contextPath() {
		return this.exchange.getRequest().getPath().contextPath().value();
	}

	@Override
	public @Nullable String route() {
		return this.route;
	}

	@Override
	@SuppressWarnings("unchecked")
	public List<String> headers(String name) {
		try {
			List<String> values = (List<String>) HEADER_VALUES.invokeExact(this.exchange.getRequest().getHeaders(),
					name);
			return (values != null) ? values : List.of();
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public List<String> query(String name) {
		String query = this.exchange.getRequest().getURI().getRawQuery();
		return (query != null) ? QueryParameters.values(query, name) : List.of();
	}

	@Override
	public List<String> cookies(String name) {
		List<HttpCookie> cookies = this.exchange.getRequest().getCookies().get(name);
		return (cookies == null) ? List.of() : cookies.stream().map(HttpCookie::getValue).toList();
	}

	@Override
	public @Nullable InetAddress remoteAddress() {
		InetSocketAddress address = this.exchange.getRequest().getRemoteAddress();
		return (address != null) ? address.getAddress() : null;
	}

	@Override
	public @Nullable Principal principal() {
		if (this.principal.isOnError()) {
			throw new IllegalStateException("the principal failed", this.principal.getThrowable());
		}
		return this.principal.get();
	}

	/**
	 * {@code HttpHeaders.get} takes an {@code Object} in Spring 6 and a {@code String} in
	 * Spring 7. What both have in common goes through all headers of a request to find
	 * the values of one.
	 */
	private static MethodHandle headerValues() {
		try {
			Class<?> name = ClassUtils.hasMethod(HttpHeaders.class, "get", String.class) ? String.class : Object.class;
			return MethodHandles.publicLookup()
				.findVirtual(HttpHeaders.class, "get", MethodType.methodType(List.class, name))
				.asType(MethodType.methodType(List.class, HttpHeaders.class, String.class));
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("HttpHeaders has no method that gets the values of a header", ex);
		}
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
