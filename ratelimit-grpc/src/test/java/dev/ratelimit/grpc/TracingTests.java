package dev.ratelimit.grpc;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import brave.Tracing;
import brave.handler.MutableSpan;
import brave.handler.SpanHandler;
import brave.propagation.TraceContext;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.binder.grpc.ObservationGrpcServerInterceptor;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.brave.bridge.BraveCurrentTraceContext;
import io.micrometer.tracing.brave.bridge.BravePropagator;
import io.micrometer.tracing.brave.bridge.BraveTracer;
import io.micrometer.tracing.brave.bridge.W3CPropagation;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.grpc.v1.CheckRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Calls in traces, with a real tracer. The caller's trace goes on in the server.
 */
class TracingTests {

	private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

	private static final String[] POLICY = { GrpcApplication.TRUSTED,
			"ratelimit.policies.orders.limits.per-tenant.by=tenant",
			"ratelimit.policies.orders.limits.per-tenant.quota=1/d", "ratelimit.grpc.envoy.domains.edge.policy=orders",
			"ratelimit.grpc.envoy.domains.edge.entries.tenant=tenant" };

	private static final Duration LONG = Duration.ofSeconds(60);

	@Test
	void decisionIsAnEventOnTheSpanOfItsCall() {
		try (GrpcApplication application = GrpcApplication.start(List.of(Traced.class), POLICY)) {
			CheckRequest check = CheckRequest.newBuilder().setPolicy("orders").putDimensions("tenant", "a").build();
			GrpcApplication.client(traced(application.channel())).check(check);
			assertThat(span(application, "ratelimit.v1.RateLimiter/Check"))
				.contains("ratelimit.decision policy=orders outcome=allowed");
			RateLimitResponse refused = ask(application, "a");
			assertThat(span(application, "envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"))
				.contains("ratelimit.decision policy=orders outcome=refused");
			Map<String, Object> problem = JsonParserFactory.getJsonParser()
				.parseMap(refused.getRawBody().toStringUtf8());
			assertThat(problem).containsEntry("traceId", TRACE);
		}
	}

	private static RateLimitResponse ask(GrpcApplication application, String tenant) {
		RateLimitRequest.Builder message = RateLimitRequest.newBuilder().setDomain("edge");
		message.addDescriptorsBuilder().addEntriesBuilder().setKey("tenant").setValue(tenant);
		return RateLimitServiceGrpc.newBlockingStub(traced(application.channel()))
			.withDeadlineAfter(60, TimeUnit.SECONDS)
			.shouldRateLimit(message.build());
	}

	/** The events on a span of the caller's trace. */
	private static List<String> span(GrpcApplication application, String name) {
		Queue<MutableSpan> spans = application.bean(Traced.class).spans;
		await().atMost(LONG).until(() -> spans.stream().anyMatch((span) -> name.equals(span.name())));
		MutableSpan found = spans.stream().filter((span) -> name.equals(span.name())).findFirst().orElseThrow();
		assertThat(found.traceId()).isEqualTo(TRACE);
		return found.annotations().stream().map(Map.Entry::getValue).toList();
	}

	@Test
	void callThatIsStartedByALaterDecisionIsInItsTrace() throws Exception {
		ExecutorService callThread = Executors.newSingleThreadExecutor();
		try (GrpcApplication application = GrpcApplication.start(List.of(Traced.class, HandDrivenLimiter.class),
				POLICY[1], POLICY[2], "ratelimit.grpc.enabled=false",
				"ratelimit.grpc.methods[grpc.health.v1.Health/*]=orders")) {
			CompletableFuture<String> seen = new CompletableFuture<>();
			Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
				.executor(callThread)
				.addService(new OwnService(application.bean(Tracing.class), seen))
				.intercept(application.bean(RateLimitServerInterceptor.class))
				.intercept(new ObservationGrpcServerInterceptor(application.bean(ObservationRegistry.class)))
				.build()
				.start();
			try {
				HealthGrpc
					.newStub(traced(application
						.channel(NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext())))
					.check(HealthCheckRequest.getDefaultInstance(), new FirstAnswer<>());
				HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
				limiter.awaitOne();
				// The thread is free when the interceptor has left the call undecided.
				callThread.submit(() -> {
				}).get(60, TimeUnit.SECONDS);
				limiter.decide();
				assertThat(seen).succeedsWithin(LONG).isEqualTo(TRACE);
			}
			finally {
				server.shutdownNow();
			}
		}
		finally {
			callThread.shutdownNow();
		}
	}

	private static Channel traced(Channel channel) {
		Metadata headers = new Metadata();
		headers.put(Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER),
				"00-" + TRACE + "-00f067aa0ba902b7-01");
		return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
	}

	private static final class OwnService extends HealthGrpc.HealthImplBase {

		private final Tracing tracing;

		private final CompletableFuture<String> seen;

		OwnService(Tracing tracing, CompletableFuture<String> seen) {
			this.tracing = tracing;
			this.seen = seen;
		}

		@Override
		public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> observer) {
			TraceContext current = this.tracing.currentTraceContext().get();
			this.seen.complete((current != null) ? current.traceIdString() : "none");
			observer.onNext(HealthCheckResponse.getDefaultInstance());
			observer.onCompleted();
		}

	}

	/** As Boot sets up Brave with the headers of W3C. */
	@Configuration(proxyBeanMethods = false)
	static class Traced {

		private final Queue<MutableSpan> spans = new ConcurrentLinkedQueue<>();

		@Bean
		Tracing tracing() {
			return Tracing.newBuilder().propagationFactory(new W3CPropagation()).addSpanHandler(new SpanHandler() {

				@Override
				public boolean end(TraceContext context, MutableSpan span, Cause cause) {
					return Traced.this.spans.add(span);
				}

			}).build();
		}

		@Bean
		Tracer tracer(Tracing tracing) {
			return new BraveTracer(tracing.tracer(), new BraveCurrentTraceContext(tracing.currentTraceContext()));
		}

		@Bean
		ObservationRegistry observations(Tracing tracing, Tracer tracer) {
			ObservationRegistry observations = ObservationRegistry.create();
			observations.observationConfig()
				.observationHandler(
						new PropagatingReceiverTracingObservationHandler<>(tracer, new BravePropagator(tracing)));
			return observations;
		}

	}

}
