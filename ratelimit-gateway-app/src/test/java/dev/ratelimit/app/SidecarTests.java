package dev.ratelimit.app;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The gateway app without HTTP, by its sample.
 */
class SidecarTests {

	private static final Path SAMPLE = Path.of("../config-samples/sidecar/application.yml");

	@Test
	void servesGrpcOnASocketAndNothingElse(@TempDir Path folder) throws Exception {
		Path socket = folder.resolve("ratelimit.sock");
		EpollEventLoopGroup loops = new EpollEventLoopGroup(1);
		ManagedChannel channel = NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
			.channelType(EpollDomainSocketChannel.class)
			.eventLoopGroup(loops)
			.usePlaintext()
			.build();
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(RateLimitGatewayApplication.class)
			.run("--spring.config.additional-location=file:" + SAMPLE, "--ratelimit.backend=memory",
					"--ratelimit.policies-store.snapshot-file=none", "--ratelimit.grpc.address=unix:" + socket)) {
			assertThat(context).isNotInstanceOf(WebServerApplicationContext.class);
			assertThat(Thread.getAllStackTraces().keySet())
				.anyMatch((thread) -> thread.getName().equals("ratelimit-grpc") && !thread.isDaemon());
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket))).isEqualTo("rw-rw----");
			CheckResponse answer = RateLimiterGrpc.newBlockingStub(channel)
				.withDeadlineAfter(60, TimeUnit.SECONDS)
				.check(CheckRequest.newBuilder()
					.setPolicy("orders")
					.putDimensions("tenant", "acme")
					.putDimensions("user", "ann")
					.build());
			assertThat(answer.getAllowed()).isTrue();
			assertThat(answer.getQuotasList()).hasSize(3);
		}
		finally {
			channel.shutdownNow();
			loops.shutdownGracefully();
		}
	}

}
