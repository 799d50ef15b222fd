package dev.ratelimit.benchmarks.grpc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.common.ServerJvm;

/**
 * A server in a JVM of its own, and one connection to it. Answers come on the
 * connection's thread.
 */
final class Connection implements AutoCloseable {

	private final ServerJvm server;

	private final ManagedChannel channel;

	private final @Nullable EpollEventLoopGroup loop;

	private final @Nullable Path directory;

	private Connection(ServerJvm server, NettyChannelBuilder channel, @Nullable EpollEventLoopGroup loop,
			@Nullable Path directory) {
		this.server = server;
		this.channel = channel.usePlaintext().directExecutor().build();
		this.loop = loop;
		this.directory = directory;
	}

	static Connection tcp(RedisURI redis, Duration deadline) throws IOException {
		ServerJvm server = server(redis, deadline, "127.0.0.1");
		return new Connection(server, NettyChannelBuilder.forAddress("127.0.0.1", server.port()), null, null);
	}

	/** Over a Unix domain socket. */
	static Connection unix(RedisURI redis, Duration deadline) throws IOException {
		Path directory = Files.createTempDirectory("benchmark-grpc-");
		Path socket = directory.resolve("socket");
		ServerJvm server = server(redis, deadline, "unix:" + socket);
		EpollEventLoopGroup loop = new EpollEventLoopGroup(1);
		return new Connection(server,
				NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
					.eventLoopGroup(loop)
					.channelType(EpollDomainSocketChannel.class),
				loop, directory);
	}

	static boolean hasUnix() {
		return Epoll.isAvailable();
	}

	private static ServerJvm server(RedisURI redis, Duration deadline, String address) throws IOException {
		List<String> arguments = new ArrayList<>();
		arguments.add("--spring.config.location=classpath:dev/ratelimit/benchmarks/grpc/grpc.yml");
		arguments.add("--spring.data.redis.url=" + redis.toURI());
		arguments.add("--ratelimit.redis.timeout=" + deadline);
		arguments.add("--ratelimit.grpc.address=" + address);
		return ServerJvm.start("gRPC server", GrpcApplication.class, arguments);
	}

	ManagedChannel channel() {
		return this.channel;
	}

	/** Processor time that the server has used, in seconds. */
	double serverSeconds() {
		return this.server.cpuSeconds();
	}

	@Override
	public void close() {
		this.channel.shutdownNow();
		this.server.close();
		if (this.loop != null) {
			this.loop.shutdownGracefully();
		}
		if (this.directory != null) {
			this.directory.resolve("socket").toFile().delete();
			this.directory.toFile().delete();
		}
	}

}
