package dev.ratelimit.grpc;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.grpc.Attributes;
import io.grpc.Grpc;
import org.jspecify.annotations.Nullable;

/**
 * The other end of a connection.
 *
 * @param trusted whether its facts about callers are believed
 * @param address its address, {@code null} on a Unix domain socket
 */
record Peer(boolean trusted, @Nullable InetAddress address) {

	static final Attributes.Key<Peer> KEY = Attributes.Key.create("dev.ratelimit.grpc.peer");

	/** The peer of a call. On a server of the application, no peer is trusted. */
	static Peer of(Attributes call) {
		Peer peer = call.get(KEY);
		return (peer != null) ? peer : new Peer(false, address(call));
	}

	static @Nullable InetAddress address(Attributes transport) {
		return (transport.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR) instanceof InetSocketAddress inet) ? inet.getAddress()
				: null;
	}

}
