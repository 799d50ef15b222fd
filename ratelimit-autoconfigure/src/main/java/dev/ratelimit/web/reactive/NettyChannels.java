package dev.ratelimit.web.reactive;

import java.util.concurrent.Executor;

import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import reactor.netty.Connection;

/**
 * The channels of Reactor Netty that requests come from. Loaded only where it is present.
 */
final class NettyChannels {

	private NettyChannels() {
	}

	static @Nullable Executor loop(ServerHttpRequest request) {
		Channel channel = of(request);
		return (channel != null) ? channel.eventLoop() : null;
	}

	/** The channel of a request, {@code null} if it comes from another server. */
	static @Nullable Channel of(ServerHttpRequest request) {
		try {
			Object server = ServerHttpRequestDecorator.getNativeRequest(request);
			return (server instanceof Connection connection) ? connection.channel() : null;
		}
		catch (IllegalArgumentException | IllegalStateException ex) {
			// The request does not come from a server.
			return null;
		}
	}

}
