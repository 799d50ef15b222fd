package dev.ratelimit.grpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * The gRPC server. It listens while the application runs: it starts after the limiter,
 * and on the way down it first says that it no longer serves, then lets calls under way
 * end, for at most ten seconds.
 *
 * <p>
 * Services answer on the event loops, which is why they never block.
 */
public final class RateLimitGrpcServer implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final String UNIX = "unix:";

	private static final String PORT = "ratelimit.grpc.port";

	private static final String ADDRESS = "ratelimit.grpc.address";

	private static final String FREE_PORT = "Set '" + PORT + "' to a free port, or to 0 for any, and '" + ADDRESS
			+ "' to an address of this host.";

	private static final int MAX_PORT = 65_535;

	/** The largest batch of checks is far below. */
	private static final int MAX_MESSAGE_BYTES = 1024 * 1024;

	private static final int MAX_METADATA_BYTES = 32 * 1024;

	private static final int MAX_CALLS_PER_CONNECTION = 1_000;

	/** Clients that ping more often are disconnected. */
	private static final int FASTEST_PING_SECONDS = 10;

	private static final int PING_SECONDS = 60;

	private static final int DRAIN_SECONDS = 10;

	private final GrpcProperties properties;

	private final List<BindableService> services;

	private final List<ServerInterceptor> interceptors;

	private final TrustedPeers peers;

	private final @Nullable SslContext tls;

	private HealthStatusManager health = new HealthStatusManager();

	private @Nullable UnixSocket unix;

	private volatile @Nullable Server server;

	RateLimitGrpcServer(GrpcProperties properties, List<BindableService> services, List<ServerInterceptor> interceptors,
			TrustedPeers peers, @Nullable SslContext tls) {
		this.properties = properties;
		this.services = services;
		this.interceptors = interceptors;
		this.peers = peers;
		this.tls = tls;
	}

	/**
	 * The port that the server listens on, -1 if it does not run or uses a Unix domain
	 * socket.
	 */
	public int port() {
		Server server = this.server;
		return (server != null) ? server.getPort() : -1;
	}

	@Override
	public void start() {
		try {
			this.health = new HealthStatusManager();
			Server server = build().start();
			restrict(server);
			this.server = server;
			this.health.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, ServingStatus.SERVING);
			this.services.forEach((service) -> this.health
				.setStatus(service.bindService().getServiceDescriptor().getName(), ServingStatus.SERVING));
			keepAlive(server);
			logger.info("gRPC server listens on {}", server.getListenSockets());
		}
		catch (IOException ex) {
			closeUnix();
			throw notBound(ex);
		}
	}

	private void restrict(Server server) throws IOException {
		try {
			if (this.unix != null) {
				this.unix.restrict();
			}
		}
		catch (IOException | RuntimeException ex) {
			server.shutdownNow();
			throw ex;
		}
	}

	private Server build() throws IOException {
		NettyServerBuilder builder = builder().directExecutor()
			.addTransportFilter(this.peers)
			.intercept(new CurrentCall.Interceptor())
			.addService(this.health.getHealthService())
			.maxInboundMessageSize(MAX_MESSAGE_BYTES)
			.maxInboundMetadataSize(MAX_METADATA_BYTES)
			.maxConcurrentCallsPerConnection(MAX_CALLS_PER_CONNECTION)
			.permitKeepAliveTime(FASTEST_PING_SECONDS, TimeUnit.SECONDS)
			.permitKeepAliveWithoutCalls(true)
			.keepAliveTime(PING_SECONDS, TimeUnit.SECONDS);
		// The last one is the first to see a call.
		this.interceptors.forEach(builder::intercept);
		this.services.forEach(builder::addService);
		if (this.properties.reflection()) {
			builder.addService(ProtoReflectionServiceV1.newInstance());
		}
		if (this.tls != null) {
			builder.sslContext(this.tls);
		}
		return builder.build();
	}

	private NettyServerBuilder builder() throws IOException {
		String address = this.properties.address();
		if (address.startsWith(UNIX)) {
			this.unix = new UnixSocket(address.substring(UNIX.length()));
			return this.unix.builder();
		}
		int port = this.properties.port();
		if (port < 0 || port > MAX_PORT) {
			throw cannotListen(PORT, Integer.toString(port), "a port is 0 to " + MAX_PORT, FREE_PORT);
		}
		InetSocketAddress socket = address.isBlank() ? new InetSocketAddress(port)
				: new InetSocketAddress(address, port);
		if (socket.isUnresolved()) {
			throw cannotListen(ADDRESS, address, "unknown host",
					"Set '" + ADDRESS + "' to an address of this host, or leave it empty for all.");
		}
		return NettyServerBuilder.forAddress(socket);
	}

	private InvalidPolicyException notBound(IOException failure) {
		Throwable cause = failure;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		String reason = String.valueOf(cause.getMessage());
		return this.properties.address().startsWith(UNIX)
				? cannotListen(ADDRESS, this.properties.address(), reason,
						"Set '" + ADDRESS + "' to a path that no other process uses.")
				: cannotListen(PORT, Integer.toString(this.properties.port()), reason, FREE_PORT);
	}

	private static InvalidPolicyException cannotListen(String setting, String value, String reason, String fix) {
		return new InvalidPolicyException(setting,
				"The gRPC server cannot listen: '" + setting + "' is " + value + " (" + reason + ").", fix);
	}

	/** Without a web server, nothing else keeps the process alive. */
	private static void keepAlive(Server server) {
		Thread thread = new Thread(() -> {
			try {
				server.awaitTermination();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, "ratelimit-grpc");
		thread.setDaemon(false);
		thread.start();
	}

	@Override
	public void stop() {
		Server server = this.server;
		if (server == null) {
			return;
		}
		this.health.enterTerminalState();
		server.shutdown();
		try {
			if (!server.awaitTermination(DRAIN_SECONDS, TimeUnit.SECONDS)) {
				server.shutdownNow();
			}
		}
		catch (InterruptedException ex) {
			server.shutdownNow();
			Thread.currentThread().interrupt();
		}
		closeUnix();
		this.server = null;
	}

	private void closeUnix() {
		if (this.unix != null) {
			this.unix.close();
			this.unix = null;
		}
	}

	@Override
	public boolean isRunning() {
		return this.server != null;
	}

	/** With web servers: after the limiter has started, before it stops. */
	@Override
	public int getPhase() {
		return SmartLifecycle.DEFAULT_PHASE - 1024;
	}

}
