package dev.ratelimit.grpc;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.grpc.Context;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.grpc.v1.CheckBatch;
import dev.ratelimit.grpc.v1.CheckResult;
import dev.ratelimit.grpc.v1.CheckResults;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Streams of the application of which each message is charged. The service answers each
 * message with its id.
 */
@ExtendWith(OutputCaptureExtension.class)
class PerMessageTests {

	private static final String METHOD = "ratelimit.v1.RateLimiter/CheckMany";

	private static final String[] PROPERTIES = { "ratelimit.grpc.enabled=false",
			"ratelimit.policies.orders.limits.per-ip.by=ip", "ratelimit.policies.orders.limits.per-ip.quota=3/d",
			"ratelimit.grpc.methods[ratelimit.v1.RateLimiter/*]=orders", "ratelimit.grpc.per-message=" + METHOD };

	private static final Duration LONG = Duration.ofSeconds(60);

	@Test
	void messageAboveTheLimitEndsTheCall() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(PROPERTIES);
				Service service = new Service(application)) {
			Caller caller = service.call();
			caller.send(1, 3);
			await().atMost(LONG).until(() -> caller.ids.size() == 3);
			assertThat(caller.ended).isNotDone();
			caller.send(4, 5);
			assertThat(caller.ended).succeedsWithin(LONG).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			assertThat(caller.ids).containsExactly("1", "2", "3");
			assertThat(service.left).succeedsWithin(LONG);
			assertThat(service.received).containsExactly("1", "2", "3");
		}
	}

	@Test
	void firstMessageIsPaidForByTheCall() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(PROPERTIES);
				Service service = new Service(application)) {
			for (int i = 0; i < 3; i++) {
				Caller caller = service.call();
				caller.send(1, 1);
				caller.requests.onCompleted();
				assertThat(caller.ended).succeedsWithin(LONG).isEqualTo(Status.Code.OK);
			}
			assertThat(service.call().ended).succeedsWithin(LONG).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
		}
	}

	@Test
	void messagesThatAreDecidedLaterKeepTheirOrderAndTheirNumberIsBounded() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), PROPERTIES);
				Service service = new Service(application)) {
			HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
			Caller caller = service.call();
			limiter.decide();
			caller.send(1, 5);
			caller.requests.onCompleted();
			for (int message = 2; message <= 5; message++) {
				limiter.awaitOne();
				assertThat(service.received).hasSize(message - 1);
				limiter.decide();
			}
			assertThat(caller.ended).succeedsWithin(LONG).isEqualTo(Status.Code.OK);
			assertThat(caller.ids).containsExactly("1", "2", "3", "4", "5");
		}
	}

	@Test
	void decisionForACallerThatHasLeftIsGivenBack() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), PROPERTIES);
				Service service = new Service(application)) {
			HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
			Caller caller = service.call();
			limiter.decide();
			caller.send(1, 2);
			limiter.awaitOne();
			caller.requests.onError(Status.CANCELLED.asRuntimeException());
			assertThat(caller.ended).succeedsWithin(LONG).isEqualTo(Status.Code.CANCELLED);
			assertThat(service.cancelled).succeedsWithin(LONG);
			limiter.decide();
			assertThat(service.left).succeedsWithin(LONG);
			assertThat(limiter.returned()).isEqualTo(1);
			assertThat(service.received).containsExactly("1");
		}
	}

	@Test
	void faultOfTheServiceReachesGrpcAndTheInterceptorsInFront() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(PROPERTIES);
				Service service = new Service(application)) {
			service.fault = () -> {
				throw new IllegalStateException("of the service");
			};
			Caller caller = service.call();
			caller.send(1, 3);
			assertThat(caller.ended).succeedsWithin(LONG).isEqualTo(Status.Code.UNKNOWN);
			assertThat(service.seen).succeedsWithin(LONG)
				.satisfies((seen) -> assertThat(seen).hasMessage("of the service"));
			assertThat(CompletableFuture.anyOf(service.left, service.closed)).succeedsWithin(LONG);
			assertThat(service.received).containsExactly("1", "2");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void faultOfTheServiceAfterALateDecisionIsLoggedAndEndsTheCall(boolean error, CapturedOutput output)
			throws Exception {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), PROPERTIES);
				Service service = new Service(application)) {
			HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
			service.fault = () -> {
				if (error) {
					throw new AssertionError("of the service");
				}
				throw new IllegalStateException("of the service");
			};
			Caller caller = service.call();
			limiter.decide();
			caller.send(1, 4);
			limiter.decide();
			assertThat(caller.ended).succeedsWithin(LONG).isEqualTo(Status.Code.INTERNAL);
			assertThat(output).contains("ERROR", "A gRPC service failed", "of the service");
			assertThat(service.left).succeedsWithin(LONG);
			assertThat(service.received).containsExactly("1", "2");
			assertThat(limiter.waiting()).isZero();
		}
	}

	@Test
	void methodWithoutAPolicyFailsTheStart() {
		assertThat(GrpcApplication.failure("ratelimit.grpc.enabled=false",
				"ratelimit.policies.orders.limits.per-ip.by=ip", "ratelimit.policies.orders.limits.per-ip.quota=3/d",
				"ratelimit.grpc.methods[orders.v1.Orders/Create]=orders",
				"ratelimit.grpc.per-message=orders.v1.Orders/Upload"))
			.isInstanceOf(InvalidPolicyException.class)
			.hasMessageContaining("'orders.v1.Orders/Upload', which has no policy");
	}

	private static CheckBatch message(int id) {
		CheckBatch.Builder message = CheckBatch.newBuilder();
		message.addItemsBuilder().setId(Integer.toString(id));
		return message.build();
	}

	private static final class Service extends RateLimiterGrpc.RateLimiterImplBase implements AutoCloseable {

		private final Queue<String> received = new ConcurrentLinkedQueue<>();

		private final CompletableFuture<Void> left = new CompletableFuture<>();

		private final CompletableFuture<Void> closed = new CompletableFuture<>();

		/** Completes when the server knows that the caller has left. */
		private final CompletableFuture<Context> cancelled = new CompletableFuture<>();

		/** What an interceptor in front of the limits catches. */
		private final CompletableFuture<Throwable> seen = new CompletableFuture<>();

		/**
		 * What the service does with its second message, and with the end of its call.
		 */
		private volatile Runnable fault = () -> {
		};

		private final GrpcApplication application;

		private final Server server;

		Service(GrpcApplication application) throws Exception {
			this.application = application;
			this.server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
				.addService(this)
				.intercept(application.bean(RateLimitServerInterceptor.class))
				.intercept(new InFront(this.seen))
				.build()
				.start();
		}

		Caller call() {
			Caller caller = new Caller();
			caller.requests = RateLimiterGrpc
				.newStub(this.application
					.channel(NettyChannelBuilder.forAddress("127.0.0.1", this.server.getPort()).usePlaintext()))
				.checkMany(caller);
			return caller;
		}

		@Override
		public StreamObserver<CheckBatch> checkMany(StreamObserver<CheckResults> answers) {
			Context.current().addListener(this.cancelled::complete, Runnable::run);
			((ServerCallStreamObserver<?>) answers).setOnCloseHandler(() -> this.closed.complete(null));
			return new StreamObserver<>() {

				@Override
				public void onNext(CheckBatch message) {
					String id = message.getItems(0).getId();
					Service.this.received.add(id);
					if (id.equals("2")) {
						Service.this.fault.run();
					}
					answers.onNext(
							CheckResults.newBuilder().addResults(CheckResult.newBuilder().setId(id).build()).build());
				}

				@Override
				public void onError(Throwable failure) {
					Service.this.left.complete(null);
					Service.this.fault.run();
				}

				@Override
				public void onCompleted() {
					answers.onCompleted();
				}

			};
		}

		@Override
		public void close() {
			this.server.shutdownNow();
		}

	}

	private record InFront(CompletableFuture<Throwable> seen) implements ServerInterceptor {

		@Override
		public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers,
				ServerCallHandler<Q, A> next) {
			return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {

				@Override
				public void onMessage(Q message) {
					try {
						super.onMessage(message);
					}
					catch (RuntimeException ex) {
						InFront.this.seen.complete(ex);
						throw ex;
					}
				}

			};
		}

	}

	private static final class Caller implements StreamObserver<CheckResults> {

		private final Queue<String> ids = new ConcurrentLinkedQueue<>();

		private final CompletableFuture<Status.Code> ended = new CompletableFuture<>();

		private StreamObserver<CheckBatch> requests;

		void send(int from, int to) {
			for (int id = from; id <= to; id++) {
				this.requests.onNext(message(id));
			}
		}

		@Override
		public void onNext(CheckResults message) {
			this.ids.add(message.getResults(0).getId());
		}

		@Override
		public void onError(Throwable failure) {
			this.ended.complete(Status.fromThrowable(failure).getCode());
		}

		@Override
		public void onCompleted() {
			this.ended.complete(Status.Code.OK);
		}

	}

}
