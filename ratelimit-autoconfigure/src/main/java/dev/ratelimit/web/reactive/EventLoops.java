package dev.ratelimit.web.reactive;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;
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
		Executor loop = NETTY ? Netty.loop(exchange) : null;
		return (loop != null) ? this.schedulers.computeIfAbsent(loop, Schedulers::fromExecutor) : Schedulers.parallel();
	}

	/** Loaded only where the server's library is there. */
	private static final class Netty {

		static @Nullable Executor loop(ServerWebExchange exchange) {
			try {
				Object request = ServerHttpRequestDecorator.getNativeRequest(exchange.getRequest());
				return (request instanceof Connection connection) ? connection.channel().eventLoop() : null;
			}
			catch (IllegalArgumentException | IllegalStateException ex) {
				// Not from a server.
				return null;
			}
		}

	}

}
