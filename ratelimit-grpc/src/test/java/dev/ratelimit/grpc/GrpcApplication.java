package dev.ratelimit.grpc;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import org.assertj.core.api.Assertions;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedExceptionUtils;

import dev.ratelimit.grpc.v1.RateLimiterGrpc;

/**
 * An application with a gRPC server on a free port, and a client of it.
 */
final class GrpcApplication implements AutoCloseable {

	static final String TRUSTED = "ratelimit.grpc.trusted-peers=127.0.0.1/32";

	private final ConfigurableApplicationContext context;

	private final List<ManagedChannel> channels = new ArrayList<>();

	private GrpcApplication(ConfigurableApplicationContext context) {
		this.context = context;
	}

	static GrpcApplication start(List<Class<?>> configurations, String... properties) {
		List<Class<?>> sources = new ArrayList<>(configurations);
		sources.add(Application.class);
		Map<String, String> arguments = new LinkedHashMap<>();
		Stream.concat(
				Stream.of("spring.main.web-application-type=none", "spring.main.banner-mode=off",
						"spring.cloud.gateway.enabled=false", "spring.cloud.gateway.server.webflux.enabled=false",
						"ratelimit.grpc.enabled=true", "ratelimit.grpc.port=0", "ratelimit.grpc.address=127.0.0.1"),
				Stream.of(properties))
			.forEach((property) -> arguments.put(property.split("=", 2)[0], "--" + property));
		return new GrpcApplication(new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
			.run(arguments.values().toArray(String[]::new)));
	}

	/** Why an application with these properties does not start. */
	static Throwable failure(String... properties) {
		return failure(List.of(), properties);
	}

	static Throwable failure(List<Class<?>> configurations, String... properties) {
		Throwable failure = Assertions.catchThrowable(() -> start(configurations, properties).close());
		Assertions.assertThat(failure).isNotNull();
		return NestedExceptionUtils.getMostSpecificCause(failure);
	}

	static GrpcApplication start(String... properties) {
		return start(List.of(), properties);
	}

	String[] names(Class<?> type) {
		return this.context.getBeanNamesForType(type);
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	int port() {
		return bean(RateLimitGrpcServer.class).port();
	}

	Channel channel() {
		return channel(NettyChannelBuilder.forAddress("127.0.0.1", port()).usePlaintext());
	}

	Channel channel(NettyChannelBuilder builder) {
		ManagedChannel channel = builder.build();
		this.channels.add(channel);
		return channel;
	}

	/** The native service. Its deadline only ends a test that hangs. */
	RateLimiterGrpc.RateLimiterBlockingStub client() {
		return client(channel());
	}

	static RateLimiterGrpc.RateLimiterBlockingStub client(Channel channel) {
		return RateLimiterGrpc.newBlockingStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS);
	}

	/** The native service with a header in each call. */
	RateLimiterGrpc.RateLimiterBlockingStub client(String header, String value) {
		Metadata metadata = new Metadata();
		metadata.put(Metadata.Key.of(header, Metadata.ASCII_STRING_MARSHALLER), value);
		return client().withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
	}

	@Override
	public void close() {
		this.channels.forEach(ManagedChannel::shutdownNow);
		this.context.close();
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration(excludeName = "org.springframework.cloud.gateway.config.GatewayRedisAutoConfiguration")
	static class Application {

	}

}
