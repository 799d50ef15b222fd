package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * The server: how it starts, ends and bounds calls.
 */
class GrpcServerTests {

	private static final String BY_TENANT = "ratelimit.policies.orders.limits.per-tenant.by=tenant";

	private static final String QUOTA = "ratelimit.policies.orders.limits.per-tenant.quota=100/d";

	private static final CheckRequest CHECK = CheckRequest.newBuilder()
		.setPolicy("orders")
		.putDimensions("tenant", "acme")
		.build();

	private static final Duration LONG = Duration.ofSeconds(60);

	@Test
	void doesNotRunUnlessEnabled() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA, "ratelimit.grpc.enabled=false")) {
			assertThat(application.names(RateLimitGrpcServer.class)).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(
			classes = { TestTokens.SeveralReactive.class, TestTokens.SeveralBlocking.class, SeveralRegistries.class })
	void severalBeansOfATypeDoNotFailTheStartUnlessEnabled(Class<?> beans) {
		try (GrpcApplication application = GrpcApplication.start(List.of(beans), BY_TENANT, QUOTA,
				"ratelimit.grpc.enabled=false")) {
			assertThat(application.names(RateLimitServerInterceptor.class)).hasSize(1);
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { TestTokens.SeveralReactive.class, TestTokens.SeveralBlocking.class })
	void severalDecodersWithoutAPrimaryOneFailTheStartAndNameTheFix(Class<?> decoders) {
		assertThat(GrpcApplication.failure(List.of(decoders), BY_TENANT, QUOTA))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("'ratelimit.grpc.enabled' is set")
			.hasMessageContaining("@Primary");
		assertThat(GrpcApplication.failure(List.of(decoders), BY_TENANT, QUOTA, "ratelimit.grpc.enabled=false",
				"ratelimit.grpc.methods[a.B/*]=orders"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("'ratelimit.grpc.methods' is set");
	}

	@Test
	void severalRegistriesAndConvertersDoNotFailTheStart() {
		try (GrpcApplication application = GrpcApplication
			.start(List.of(SeveralRegistries.class, TestTokens.Blocking.class), BY_TENANT, QUOTA)) {
			assertThat(application.client().check(CHECK).getAllowed()).isTrue();
		}
	}

	@Test
	void portThatIsTakenFailsTheStartAndNamesTheSetting() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA)) {
			int taken = application.port();
			assertThat(GrpcApplication.failure(BY_TENANT, QUOTA, "ratelimit.grpc.port=" + taken))
				.isInstanceOf(InvalidPolicyException.class)
				.hasMessageContaining("'ratelimit.grpc.port' is " + taken);
		}
	}

	@Test
	void peerThatCannotBeReadFailsTheStart() {
		assertThat(GrpcApplication.failure(BY_TENANT, QUOTA, "ratelimit.grpc.trusted-peers=10.0.0.0/33"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("ratelimit.grpc.trusted-peers[0]");
	}

	@Test
	void namesOfCertificatesWithoutTlsFailTheStart() {
		assertThat(GrpcApplication.failure(BY_TENANT, QUOTA, "ratelimit.grpc.trusted-peers=spiffe://example.org/envoy"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("ratelimit.grpc.ssl.bundle");
	}

	@Test
	void unknownPropertyFailsTheStart() {
		assertThat(GrpcApplication.failure(BY_TENANT, QUOTA, "ratelimit.grpc.prot=1"))
			.hasMessageContaining("Did you mean 'ratelimit.grpc.port'?");
	}

	@Test
	void saysThatItServes() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA)) {
			HealthGrpc.HealthBlockingStub health = HealthGrpc.newBlockingStub(application.channel())
				.withDeadlineAfter(60, TimeUnit.SECONDS);
			assertThat(health.check(HealthCheckRequest.getDefaultInstance()).getStatus())
				.isEqualTo(ServingStatus.SERVING);
			assertThat(health.check(HealthCheckRequest.newBuilder().setService("ratelimit.v1.RateLimiter").build())
				.getStatus()).isEqualTo(ServingStatus.SERVING);
		}
	}

	@Test
	void reflectionIsOffUnlessItIsSwitchedOn() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA)) {
			assertThat(reflected(application)).failsWithin(LONG)
				.withThrowableThat()
				.havingRootCause()
				.withMessageContaining("UNIMPLEMENTED");
		}
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA, "ratelimit.grpc.reflection=true")) {
			assertThat(reflected(application)).succeedsWithin(LONG)
				.satisfies((answer) -> assertThat(answer.getListServicesResponse().getServiceList())
					.anySatisfy((service) -> assertThat(service.getName()).isEqualTo("ratelimit.v1.RateLimiter")));
		}
	}

	private static CompletableFuture<ServerReflectionResponse> reflected(GrpcApplication application) {
		CompletableFuture<ServerReflectionResponse> answer = new CompletableFuture<>();
		StreamObserver<ServerReflectionRequest> requests = ServerReflectionGrpc.newStub(application.channel())
			.serverReflectionInfo(new FirstAnswer<>(answer));
		requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
		requests.onCompleted();
		return answer;
	}

	@Test
	void messageAboveTheBoundIsRefused() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA)) {
			CheckRequest large = CHECK.toBuilder().putDimensions("account", "x".repeat(2_000_000)).build();
			StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class,
					() -> application.client().check(large));
			assertThat(failure.getStatus().getCode()).isIn(Status.Code.RESOURCE_EXHAUSTED, Status.Code.CANCELLED);
			assertThat(application.client().check(CHECK).getAllowed()).isTrue();
		}
	}

	@Test
	void portThatIsNoPortFailsTheStartAndNamesTheSetting() {
		assertThat(GrpcApplication.failure(BY_TENANT, QUOTA, "ratelimit.grpc.port=70000"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("'ratelimit.grpc.port' is 70000");
	}

	@Test
	void addressThatCannotBeFoundFailsTheStartAndNamesTheSetting() {
		assertThat(GrpcApplication.failure(BY_TENANT, QUOTA, "ratelimit.grpc.address=host.invalid"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("'ratelimit.grpc.address' is host.invalid");
	}

	@Test
	void deadlineOfAPeerThatIsNotTrustedIsAnError() {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), BY_TENANT, QUOTA)) {
			StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class,
					() -> application.client().withDeadlineAfter(1, TimeUnit.SECONDS).check(CHECK));
			assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
		}
	}

	@Test
	void tinyDeadlineOfATrustedPeerIsNotAFaultOfOurs() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA, GrpcApplication.TRUSTED,
				"ratelimit.allow[0].tenant=friend")) {
			Deciding deciding = application.bean(Deciding.class);
			Deadline passed = Deadline.after(-1, TimeUnit.SECONDS);
			Request request = Request.of("orders");
			assertThat(deciding.decide(request.with(Dimension.TENANT, "acme"), passed)).succeedsWithin(LONG)
				.satisfies((decision) -> assertThat(decision.reason()).isEqualTo(Decision.Reason.NOT_AWAITED));
			assertThat(deciding.decide(request.with(Dimension.TENANT, "friend"), passed)).succeedsWithin(LONG)
				.satisfies((decision) -> assertThat(decision.reason()).isEqualTo(Decision.Reason.LIST));
		}
	}

	@Test
	void permitsOfACallerThatHasLeftAreGivenBack() {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), BY_TENANT, QUOTA)) {
			HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
			Context.CancellableContext call = Context.current().withCancellation();
			call.run(() -> RateLimiterGrpc.newStub(application.channel()).check(CHECK, new FirstAnswer<>()));
			limiter.awaitOne();
			call.cancel(null);
			assertThat(limiter.left()).succeedsWithin(LONG);
			limiter.decide();
			assertThat(limiter.returned()).isEqualTo(1);
		}
	}

	@Test
	void callUnderWayIsAnsweredWhenTheServerStops() {
		GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), BY_TENANT, QUOTA);
		try {
			HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
			CompletableFuture<CheckResponse> answer = new CompletableFuture<>();
			RateLimiterGrpc.newStub(application.channel()).check(CHECK, new FirstAnswer<>(answer));
			limiter.awaitOne();
			Queue<ServingStatus> health = new ConcurrentLinkedQueue<>();
			Context.CancellableContext watching = Context.current().withCancellation();
			watching.run(() -> watch(application, health));
			await().atMost(LONG).until(() -> health.contains(ServingStatus.SERVING));
			RateLimitGrpcServer server = application.bean(RateLimitGrpcServer.class);
			CompletableFuture<Void> stopped = CompletableFuture.runAsync(server::stop);
			await().atMost(LONG).until(() -> health.contains(ServingStatus.NOT_SERVING));
			watching.cancel(null);
			await().atMost(LONG).until(() -> isClosed(application));
			limiter.decide();
			assertThat(answer).succeedsWithin(LONG).satisfies((given) -> assertThat(given.getAllowed()).isTrue());
			assertThat(stopped).succeedsWithin(LONG);
		}
		finally {
			application.close();
		}
	}

	private static void watch(GrpcApplication application, Queue<ServingStatus> health) {
		HealthGrpc.newStub(application.channel())
			.watch(HealthCheckRequest.getDefaultInstance(), new StreamObserver<>() {

				@Override
				public void onNext(HealthCheckResponse answer) {
					health.add(answer.getStatus());
				}

				@Override
				public void onError(Throwable failure) {
					// The test has seen enough.
				}

				@Override
				public void onCompleted() {
					// The server never ends the stream by itself.
				}

			});
	}

	private static boolean isClosed(GrpcApplication application) {
		try {
			application.client().check(CheckRequest.newBuilder().setPolicy("orders").setCost(0).build());
			return false;
		}
		catch (StatusRuntimeException ex) {
			return true;
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class SeveralRegistries {

		@Bean
		MeterRegistry oneMeters() {
			return new SimpleMeterRegistry();
		}

		@Bean
		MeterRegistry otherMeters() {
			return new SimpleMeterRegistry();
		}

		@Bean
		ObservationRegistry oneObservations() {
			return ObservationRegistry.create();
		}

		@Bean
		ObservationRegistry otherObservations() {
			return ObservationRegistry.create();
		}

		@Bean
		JwtAuthenticationConverter oneConverter() {
			return new JwtAuthenticationConverter();
		}

		@Bean
		JwtAuthenticationConverter otherConverter() {
			return new JwtAuthenticationConverter();
		}

	}

}
