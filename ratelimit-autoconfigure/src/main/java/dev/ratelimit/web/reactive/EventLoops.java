package dev.ratelimit.web.reactive;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.Connection;

/**
 * Where an exchange goes on after a decision: on the event loop that it came from, so
 * that the call to the upstream stays on it too and nothing changes threads once more.
 * There are as many as the server has; a server that has none goes on in parallel.
 */
public final class EventLoops {

	private static final boolean NETTY = ClassUtils.isPresent("reactor.netty.Connection",
			EventLoops.class.getClassLoader());

	private final Map<Executor, Scheduler> schedulers = new ConcurrentHashMap<>();

	public Scheduler of(ServerWebExchange exchange) {
		Scheduler loop = find(exchange.getRequest());
		return (loop != null) ? loop : Schedulers.parallel();
	}

	/**
	 * The event loop that a request came from, null if it came from none.
	 */
	@Nullable Scheduler find(ServerHttpRequest request) {
		Executor loop = NETTY ? Netty.loop(request) : null;
		return (loop != null) ? this.schedulers.computeIfAbsent(loop, Schedulers::fromExecutor) : null;
	}

	/** Loaded only where the server's library is there. */
	private static final class Netty {

		static @Nullable Executor loop(ServerHttpRequest request) {
			try {
				Object server = ServerHttpRequestDecorator.getNativeRequest(request);
				return (server instanceof Connection connection) ? connection.channel().eventLoop() : null;
			}
			catch (IllegalArgumentException | IllegalStateException ex) {
				// Not from a server.
				return null;
			}
		}

	}

}
