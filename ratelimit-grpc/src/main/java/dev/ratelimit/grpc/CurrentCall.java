package dev.ratelimit.grpc;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/**
 * What services need to know about a call beyond its message.
 *
 * @param peer the other end of the connection
 * @param metadata the headers of the call
 */
record CurrentCall(Peer peer, Metadata metadata) {

	private static final Context.Key<CurrentCall> KEY = Context.key("dev.ratelimit.grpc.call");

	static CurrentCall get() {
		return KEY.get();
	}

	/**
	 * Puts the call into the context of its handler.
	 */
	static final class Interceptor implements ServerInterceptor {

		@Override
		public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers,
				ServerCallHandler<Q, A> next) {
			CurrentCall current = new CurrentCall(Peer.of(call.getAttributes()), headers);
			return Contexts.interceptCall(Context.current().withValue(KEY, current), call, headers, next);
		}

	}

}
