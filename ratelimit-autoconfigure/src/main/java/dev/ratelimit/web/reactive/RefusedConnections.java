package dev.ratelimit.web.reactive;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.AttributeKey;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;

/**
 * Closes connections on which many requests in a row were refused, so that a client in a
 * loop pays for a handshake each time. HTTP/1.1 gets {@code Connection: close}, HTTP/2 a
 * GOAWAY, after which the server closes when the streams have ended. On other servers
 * than Reactor Netty nothing is closed.
 */
public final class RefusedConnections {

	private static final boolean NETTY = EventLoops.NETTY;

	private static final String REFUSED = RefusedConnections.class.getName() + ".refused";

	/** Closes nothing. */
	public static final RefusedConnections KEPT = new RefusedConnections((policy) -> 0, (request) -> false);

	private final ToLongFunction<String> closeAfter;

	private final Predicate<ServerHttpRequest> direct;

	/** Whether any refusal was counted: until then an allowed request costs nothing. */
	private volatile boolean used;

	/**
	 * Creates it.
	 * @param closeAfter refusals in a row after which a policy closes a connection, 0 for
	 * never
	 * @param direct whether the connection of a request is the caller's own
	 */
	public RefusedConnections(ToLongFunction<String> closeAfter, Predicate<ServerHttpRequest> direct) {
		this.closeAfter = closeAfter;
		this.direct = direct;
	}

	/**
	 * A request that a filter has let pass, and that later ones may still refuse. It ends
	 * the row unless they do.
	 */
	public void passed(ServerWebExchange exchange) {
		if (this.used && NETTY) {
			exchange.getResponse().beforeCommit(() -> {
				if (exchange.getAttribute(REFUSED) == null) {
					Netty.allowed(exchange.getRequest());
				}
				return Mono.empty();
			});
		}
	}

	/**
	 * Counts a refused request.
	 * @param answer answers it
	 * @return answers it, and closes the connection if there were too many
	 */
	public Mono<Void> refused(Decision decision, ServerWebExchange exchange, Mono<Void> answer) {
		exchange.getAttributes().put(REFUSED, Boolean.TRUE);
		boolean counts = NETTY
				&& (decision.outcome() == Decision.Outcome.REFUSED || decision.reason() == Decision.Reason.BAN);
		long most = counts ? this.closeAfter.applyAsLong(decision.policy()) : 0;
		if (most == 0 || !this.direct.test(exchange.getRequest())) {
			return answer;
		}
		this.used = true;
		return Netty.refused(exchange, most, answer);
	}

	/** Loaded only where Reactor Netty is present. */
	private static final class Netty {

		private static final AttributeKey<AtomicLong> REFUSALS = AttributeKey.valueOf("ratelimit.refusals");

		static void allowed(ServerHttpRequest request) {
			Channel connection = connection(request);
			AtomicLong refusals = (connection != null) ? connection.attr(REFUSALS).get() : null;
			if (refusals != null) {
				refusals.set(0);
			}
		}

		static Mono<Void> refused(ServerWebExchange exchange, long most, Mono<Void> answer) {
			Channel connection = connection(exchange.getRequest());
			if (connection == null) {
				return answer;
			}
			connection.attr(REFUSALS).setIfAbsent(new AtomicLong());
			if (connection.attr(REFUSALS).get().incrementAndGet() < most) {
				return answer;
			}
			if (NettyChannels.of(exchange.getRequest()) instanceof Http2StreamChannel) {
				return answer.doFinally((signal) -> connection.close());
			}
			exchange.getResponse().getHeaders().set("Connection", "close");
			return answer;
		}

		/** All streams of HTTP/2 share one. */
		private static @Nullable Channel connection(ServerHttpRequest request) {
			Channel channel = NettyChannels.of(request);
			return (channel instanceof Http2StreamChannel stream) ? stream.parent() : channel;
		}

	}

}
