package dev.ratelimit.grpc;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The server on a Unix domain socket.
 */
class UnixSocketTests {

	private static final String BY_TENANT = "ratelimit.policies.orders.limits.per-tenant.by=tenant";

	private static final String QUOTA = "ratelimit.policies.orders.limits.per-tenant.quota=100/d";

	private static final CheckRequest CHECK = CheckRequest.newBuilder()
		.setPolicy("orders")
		.putDimensions("tenant", "acme")
		.build();

	private static final Duration LONG = Duration.ofSeconds(60);

	@Test
	void socketIsForOwnerAndGroupAndCanBeTrusted(@TempDir Path directory) throws Exception {
		Path socket = directory.resolve("ratelimit.sock");
		EpollEventLoopGroup loops = new EpollEventLoopGroup(1);
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA,
				"ratelimit.grpc.address=unix:" + socket, "ratelimit.grpc.trusted-peers=unix",
				"ratelimit.policies.orders.on-missing-identity=deny")) {
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket))).isEqualTo("rw-rw----");
			assertThat(GrpcApplication.client(application.channel(unix(socket, loops))).check(CHECK).getAllowed())
				.isTrue();
		}
		finally {
			loops.shutdownGracefully();
		}
		assertThat(socket).doesNotExist();
	}

	@Test
	void socketOfANewProcessOutlivesTheDrainOfTheOldOne(@TempDir Path directory) throws Exception {
		Path socket = directory.resolve("ratelimit.sock");
		String address = "ratelimit.grpc.address=unix:" + socket;
		EpollEventLoopGroup loops = new EpollEventLoopGroup(1);
		GrpcApplication old = GrpcApplication.start(List.of(HandDrivenLimiter.class), BY_TENANT, QUOTA, address);
		try {
			HandDrivenLimiter limiter = old.bean(HandDrivenLimiter.class);
			CompletableFuture<CheckResponse> answer = new CompletableFuture<>();
			RateLimiterGrpc.newStub(old.channel(unix(socket, loops))).check(CHECK, new FirstAnswer<>(answer));
			limiter.awaitOne();
			CompletableFuture<Void> stopped = CompletableFuture.runAsync(old.bean(RateLimitGrpcServer.class)::stop);
			await().atMost(LONG).until(() -> !Files.exists(socket));
			try (GrpcApplication next = GrpcApplication.start(BY_TENANT, QUOTA, address,
					"ratelimit.grpc.trusted-peers=unix")) {
				limiter.decide();
				assertThat(answer).succeedsWithin(LONG);
				assertThat(stopped).succeedsWithin(LONG);
				assertThat(GrpcApplication.client(next.channel(unix(socket, loops))).check(CHECK).getAllowed())
					.isTrue();
			}
		}
		finally {
			old.close();
			loops.shutdownGracefully();
		}
	}

	@Test
	void leftoverSocketOfAKilledProcessIsReplaced(@TempDir Path directory) throws Exception {
		Path socket = directory.resolve("ratelimit.sock");
		try (ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			killed.bind(UnixDomainSocketAddress.of(socket));
		}
		assertThat(socket).exists();
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA,
				"ratelimit.grpc.address=unix:" + socket)) {
			assertThat(application.bean(RateLimitGrpcServer.class).isRunning()).isTrue();
		}
	}

	@Test
	void socketThatIsInUseFailsTheStartAndStays(@TempDir Path directory) throws Exception {
		Path socket = directory.resolve("ratelimit.sock");
		try (ServerSocketChannel other = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			other.bind(UnixDomainSocketAddress.of(socket));
			assertThat(GrpcApplication.failure(BY_TENANT, QUOTA, "ratelimit.grpc.address=unix:" + socket))
				.isInstanceOf(InvalidPolicyException.class)
				.hasMessageContaining("'ratelimit.grpc.address'");
			assertThat(socket).exists();
		}
	}

	@Test
	void fileThatIsNoSocketFailsTheStartAndStays(@TempDir Path directory) throws Exception {
		Path file = Files.writeString(directory.resolve("data.txt"), "data");
		assertThat(GrpcApplication.failure(BY_TENANT, QUOTA, "ratelimit.grpc.address=unix:" + file))
			.isInstanceOf(InvalidPolicyException.class);
		assertThat(file).hasContent("data");
	}

	private static NettyChannelBuilder unix(Path socket, EpollEventLoopGroup loops) {
		return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
			.channelType(EpollDomainSocketChannel.class)
			.eventLoopGroup(loops)
			.usePlaintext();
	}

}
