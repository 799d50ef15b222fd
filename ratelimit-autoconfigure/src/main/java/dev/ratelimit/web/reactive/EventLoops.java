package dev.ratelimit.web.reactive;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The event loops of exchanges. After a decision an exchange continues on the event loop
 * that it came from, so that the call to the upstream needs no further change of threads;
 * without an event loop it continues on Reactor's parallel scheduler.
 */
public final class EventLoops {

	static final boolean NETTY = ClassUtils.isPresent("reactor.netty.Connection", EventLoops.class.getClassLoader());

	private final Map<Executor, Scheduler> schedulers = new ConcurrentHashMap<>();

	/**
	 * A pending decision about an exchange. It is counted even if the subscription is
	 * cancelled. A decision that is there at once needs no change of threads.
	 */
	public <T> Mono<T> decided(CompletableFuture<T> decision, ServerWebExchange exchange) {
		if (decision.isDone() && !decision.isCompletedExceptionally()) {
			return Mono.just(decision.join());
		}
		Scheduler loop = find(exchange.getRequest());
		return Mono.fromFuture(decision, true).publishOn((loop != null) ? loop : Schedulers.parallel());
	}

	/**
	 * The event loop that a request came from, {@code null} if it came from none.
	 */
	@Nullable Scheduler find(ServerHttpRequest request) {
		Executor loop = NETTY ? NettyChannels.loop(request) : null;
		if (loop == null) {
			return null;
		}
		// Read first: computeIfAbsent may lock.
		Scheduler known = this.schedulers.get(loop);
		return (known != null) ? known : this.schedulers.computeIfAbsent(loop, Schedulers::fromExecutor);
	}

}
