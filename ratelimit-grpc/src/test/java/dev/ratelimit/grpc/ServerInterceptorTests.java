package dev.ratelimit.grpc;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.web.CallTrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * The interceptor on a server of the application, which has a service of its own.
 */
class ServerInterceptorTests {

	private static final String OFF = "ratelimit.grpc.enabled=false";

	private static final String BY_IP = "ratelimit.policies.orders.limits.per-ip.by=ip";

	private static final String QUOTA = "ratelimit.policies.orders.limits.per-ip.quota=2/d";

	private static final String ALL_METHODS = "ratelimit.grpc.methods[grpc.health.v1.Health/*]=orders";

	@Test
	void callAboveTheLimitIsRefusedWithTheFactsOfTheProblemDocument() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(OFF, BY_IP, QUOTA, ALL_METHODS)) {
			serve(application, (channel) -> {
				check(channel);
				check(channel);
				StatusRuntimeException refused = failure(channel);
				assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
				com.google.rpc.Status details = StatusProto.fromThrowable(refused);
				assertThat(details.getDetails(0).unpack(ErrorInfo.class).getMetadataMap())
					.containsEntry("policy", "orders")
					.containsEntry("limit", "per-ip")
					.containsEntry("quota", "2/d");
				assertThat(details.getDetails(1).unpack(RetryInfo.class).getRetryDelay().getSeconds()).isPositive();
			});
		}
	}

	@Test
	void streamingCallIsChargedOnce() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(OFF, BY_IP, QUOTA, ALL_METHODS)) {
			serve(application, (channel) -> {
				FirstAnswer<HealthCheckResponse> answer = new FirstAnswer<>();
				HealthGrpc.newStub(channel).watch(HealthCheckRequest.getDefaultInstance(), answer);
				answer.message().get(60, TimeUnit.SECONDS);
				check(channel);
				assertThat(failure(channel).getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			});
		}
	}

	@Test
	void methodWithoutAPolicyIsNotLimited() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(OFF, BY_IP, QUOTA,
				"ratelimit.grpc.methods[grpc.health.v1.Health/Watch]=orders")) {
			serve(application, (channel) -> {
				for (int i = 0; i < 5; i++) {
					check(channel);
				}
			});
		}
	}

	@Test
	void tokenIdentifiesTheCaller() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(List.of(TestTokens.Reactive.class), OFF, ALL_METHODS,
				"ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=1/d",
				"ratelimit.policies.orders.on-missing-identity=deny")) {
			serve(application, (channel) -> {
				assertThat(failure(channel).getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
				for (String tenant : List.of("acme", "other")) {
					Metadata token = new Metadata();
					token.put(CallerTokens.AUTHORIZATION, TestTokens.bearer(Map.of("tenant_id", tenant)));
					HealthGrpc.newBlockingStub(channel)
						.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(token))
						.withDeadlineAfter(60, TimeUnit.SECONDS)
						.check(HealthCheckRequest.getDefaultInstance());
				}
			});
		}
	}

	@Test
	void idInTheMetadataHasNoEffect() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(OFF, BY_IP, QUOTA, ALL_METHODS,
				"ratelimit.policies.orders.idempotency.header=Idempotency-Key",
				"ratelimit.identity.trusted-proxies=127.0.0.1/32")) {
			serve(application, (channel) -> {
				Metadata id = new Metadata();
				id.put(Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER), "id-1");
				Channel sameId = ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(id));
				check(sameId);
				check(sameId);
				assertThat(failure(sameId).getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			});
		}
	}

	@Test
	void decisionThatComesLaterLosesNoMessage() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), OFF, BY_IP, QUOTA,
				ALL_METHODS)) {
			serve(application, (channel) -> {
				for (int i = 0; i < 20; i++) {
					FirstAnswer<HealthCheckResponse> answer = new FirstAnswer<>();
					HealthGrpc.newStub(channel).check(HealthCheckRequest.getDefaultInstance(), answer);
					application.bean(HandDrivenLimiter.class).decide();
					assertThat(answer.message()).succeedsWithin(Duration.ofSeconds(60));
				}
			});
		}
	}

	@Test
	void banIsRefusedWithTheTimeToWait() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(OFF, BY_IP, QUOTA, ALL_METHODS,
				"ratelimit.policies.orders.penalty.after=1", "ratelimit.policies.orders.penalty.ban-after=2")) {
			serve(application, (channel) -> {
				check(channel);
				check(channel);
				StatusRuntimeException refused = await().atMost(Duration.ofSeconds(60))
					.until(() -> failure(channel), ServerInterceptorTests::isBan);
				assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
				com.google.rpc.Status details = StatusProto.fromThrowable(refused);
				assertThat(details.getDetails(1).unpack(RetryInfo.class).getRetryDelay().getSeconds()).isPositive();
			});
		}
	}

	@Test
	void refusalNamesTheTraceOfTheCall() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(List.of(Traced.class), OFF, BY_IP, QUOTA,
				ALL_METHODS)) {
			serve(application, (channel) -> {
				check(channel);
				check(channel);
				com.google.rpc.Status details = StatusProto.fromThrowable(failure(channel));
				assertThat(details.getDetails(0).unpack(ErrorInfo.class).getMetadataMap()).containsEntry("traceId",
						"trace-1");
			});
		}
	}

	@Test
	void unknownPolicyOrMethodFailsTheStart() {
		assertThat(GrpcApplication.failure(OFF, BY_IP, QUOTA, "ratelimit.grpc.methods[a.B/*]=ordres"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("Did you mean 'orders'?");
		assertThat(GrpcApplication.failure(OFF, BY_IP, QUOTA, "ratelimit.grpc.methods[a.B]=orders"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("is not a gRPC method");
	}

	private static boolean isBan(StatusRuntimeException failure) {
		try {
			return StatusProto.fromThrowable(failure)
				.getDetails(0)
				.unpack(ErrorInfo.class)
				.getReason()
				.equals("CALLER_BANNED");
		}
		catch (InvalidProtocolBufferException ex) {
			throw new AssertionError(ex);
		}
	}

	private static void serve(GrpcApplication application, Calls calls) throws Exception {
		Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
			.addService(new OwnService())
			.intercept(application.bean(RateLimitServerInterceptor.class))
			.build()
			.start();
		try {
			calls.make(
					application.channel(NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext()));
		}
		finally {
			server.shutdownNow();
		}
	}

	private static void check(Channel channel) {
		assertThat(HealthGrpc.newBlockingStub(channel)
			.withDeadlineAfter(60, TimeUnit.SECONDS)
			.check(HealthCheckRequest.getDefaultInstance())
			.getStatus()).isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
	}

	private static StatusRuntimeException failure(Channel channel) {
		return catchThrowableOfType(StatusRuntimeException.class,
				() -> HealthGrpc.newBlockingStub(channel)
					.withDeadlineAfter(60, TimeUnit.SECONDS)
					.check(HealthCheckRequest.getDefaultInstance()));
	}

	@FunctionalInterface
	private interface Calls {

		void make(Channel channel) throws Exception;

	}

	/** Any service; this one has messages already. */
	private static final class OwnService extends HealthGrpc.HealthImplBase {

		@Override
		public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
			watch(request, observer);
		}

		@Override
		public void watch(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
			observer
				.onNext(HealthCheckResponse.newBuilder().setStatus(HealthCheckResponse.ServingStatus.SERVING).build());
			observer.onCompleted();
		}

	}

	/** Every call is part of one trace. */
	@Configuration(proxyBeanMethods = false)
	static class Traced {

		@Bean
		@Primary
		CallTrace.Source traces() {
			return (observation) -> new CallTrace() {

				@Override
				public String id() {
					return "trace-1";
				}

			};
		}

	}

}
