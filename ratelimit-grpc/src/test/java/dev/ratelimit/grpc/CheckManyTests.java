package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import com.google.rpc.Code;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.MetadataUtils;
import org.junit.jupiter.api.Test;

import dev.ratelimit.grpc.v1.CheckBatch;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResult;
import dev.ratelimit.grpc.v1.CheckResults;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Streams of checks over a socket.
 */
class CheckManyTests {

	private static final String BY_TENANT = "ratelimit.policies.orders.limits.per-tenant.by=tenant";

	private static final String QUOTA = "ratelimit.policies.orders.limits.per-tenant.quota=100/d";

	private static final Duration LONG = Duration.ofSeconds(60);

	private static CheckRequest check(String tenant) {
		return CheckRequest.newBuilder().setPolicy("orders").putDimensions("tenant", tenant).build();
	}

	private static CheckBatch batch(String tenant, int from, int items) {
		CheckBatch.Builder batch = CheckBatch.newBuilder();
		for (int i = from; i < from + items; i++) {
			batch.addItemsBuilder().setId("i" + i).setCheck(check(tenant));
		}
		return batch.build();
	}

	@Test
	void tenThousandItemsOfALimitOfAHundredAreAdmittedAHundredTimes() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA, GrpcApplication.TRUSTED)) {
			Client client = Client.open(application, true);
			for (int i = 0; i < 10_000; i += 250) {
				client.requests().onNext(batch("acme", i, 250));
			}
			client.requests().onCompleted();
			assertThat(client.completed).succeedsWithin(LONG);
			assertThat(client.results).hasSize(10_000);
			assertThat(client.results.stream().map(CheckResult::getId).distinct()).hasSize(10_000);
			assertThat(client.results).filteredOn((result) -> result.getResponse().getAllowed()).hasSize(100);
		}
	}

	@Test
	void itemThatIsInvalidFailsAlone() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA, GrpcApplication.TRUSTED)) {
			Client client = Client.open(application, true);
			CheckBatch.Builder batch = batch("acme", 0, 2).toBuilder();
			batch.addItemsBuilder().setId("bad").setCheck(check("acme").toBuilder().setCost(-1));
			batch.addItemsBuilder().setId("unknown").setCheck(check("acme").toBuilder().setPolicy("none"));
			client.requests().onNext(batch.build());
			client.requests().onCompleted();
			assertThat(client.completed).succeedsWithin(LONG);
			assertThat(client.find("bad").getError().getCode()).isEqualTo(Code.INVALID_ARGUMENT_VALUE);
			assertThat(client.find("bad").getError().getDetailsCount()).isEqualTo(1);
			assertThat(client.find("unknown").getError().getCode()).isEqualTo(Code.NOT_FOUND_VALUE);
			assertThat(client.find("i1").getResponse().getAllowed()).isTrue();
		}
	}

	@Test
	void itemThatTakesLongerDoesNotHoldUpOthers() {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), BY_TENANT, QUOTA,
				GrpcApplication.TRUSTED)) {
			Client client = Client.open(application, true);
			CheckBatch.Builder batch = batch("acme", 0, 1).toBuilder();
			batch.addItemsBuilder().setId("quick").setCheck(check("acme").toBuilder().setCost(0));
			client.requests().onNext(batch.build());
			client.requests().onCompleted();
			await().atMost(LONG).until(() -> client.results.size() == 1);
			assertThat(client.results.element().getId()).isEqualTo("quick");
			assertThat(client.completed).isNotDone();
			application.bean(HandDrivenLimiter.class).decide();
			assertThat(client.completed).succeedsWithin(LONG);
			assertThat(client.find("i0").getResponse().getAllowed()).isTrue();
		}
	}

	@Test
	void clientThatDoesNotReadHasABoundOfItemsInFlight() {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), BY_TENANT, QUOTA,
				GrpcApplication.TRUSTED)) {
			HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
			Client client = Client.open(application, false);
			for (int i = 0; i < 10_000; i += 500) {
				client.requests().onNext(batch("acme", i, 500));
			}
			await().atMost(LONG).until(() -> limiter.asked() == CheckStream.MOST_IN_FLIGHT);
			// What the server has asked for is here; it takes nothing from what waits.
			assertThat(application.client().check(check("acme").toBuilder().setCost(0).build()).getAllowed()).isTrue();
			assertThat(limiter.asked()).isEqualTo(CheckStream.MOST_IN_FLIGHT);
			client.requests().cancel("enough", null);
		}
	}

	@Test
	void cancelledStreamGivesBack() {
		try (GrpcApplication application = GrpcApplication.start(List.of(HandDrivenLimiter.class), BY_TENANT, QUOTA,
				GrpcApplication.TRUSTED)) {
			HandDrivenLimiter limiter = application.bean(HandDrivenLimiter.class);
			Client client = Client.open(application, true);
			client.requests().onNext(batch("acme", 0, 7));
			await().atMost(LONG).until(() -> limiter.asked() == 7);
			client.requests().cancel("enough", null);
			assertThat(limiter.left()).succeedsWithin(LONG);
			limiter.decideAll();
			assertThat(limiter.returned()).isEqualTo(7);
		}
	}

	/** A trusted proxy of HTTP is no trusted peer: its calls are its own. */
	@Test
	void idInTheMetadataHasNoEffect() {
		try (GrpcApplication application = GrpcApplication.start("ratelimit.policies.orders.limits.per-ip.by=ip",
				"ratelimit.policies.orders.limits.per-ip.quota=2/d",
				"ratelimit.policies.orders.idempotency.header=Idempotency-Key",
				"ratelimit.identity.trusted-proxies=127.0.0.1/32")) {
			Metadata id = new Metadata();
			id.put(Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER), "id-1");
			Client client = Client.open(
					ClientInterceptors.intercept(application.channel(), MetadataUtils.newAttachHeadersInterceptor(id)),
					true);
			client.requests().onNext(batch("acme", 0, 5));
			client.requests().onCompleted();
			assertThat(client.completed).succeedsWithin(LONG);
			assertThat(client.results).filteredOn((result) -> result.getResponse().getAllowed()).hasSize(2);
		}
	}

	@Test
	void messageWithTooManyItemsEndsTheStream() {
		try (GrpcApplication application = GrpcApplication.start(BY_TENANT, QUOTA, GrpcApplication.TRUSTED)) {
			Client client = Client.open(application, true);
			client.requests().onNext(batch("acme", 0, CheckStream.MOST_ITEMS + 1));
			assertThat(client.completed).failsWithin(LONG)
				.withThrowableThat()
				.satisfies((failure) -> assertThat(Status.fromThrowable(failure).getCode())
					.isEqualTo(Status.Code.INVALID_ARGUMENT));
		}
	}

	/** A client that keeps the results, or reads none of them. */
	private static final class Client implements ClientResponseObserver<CheckBatch, CheckResults> {

		private final boolean reads;

		private final Queue<CheckResult> results = new ConcurrentLinkedQueue<>();

		private final CompletableFuture<Void> completed = new CompletableFuture<>();

		private final CompletableFuture<ClientCallStreamObserver<CheckBatch>> requests = new CompletableFuture<>();

		private Client(boolean reads) {
			this.reads = reads;
		}

		static Client open(GrpcApplication application, boolean reads) {
			return open(application.channel(), reads);
		}

		static Client open(Channel channel, boolean reads) {
			Client client = new Client(reads);
			RateLimiterGrpc.newStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS).checkMany(client);
			return client;
		}

		ClientCallStreamObserver<CheckBatch> requests() {
			return this.requests.join();
		}

		CheckResult find(String id) {
			return this.results.stream().filter((result) -> result.getId().equals(id)).findFirst().orElseThrow();
		}

		@Override
		public void beforeStart(ClientCallStreamObserver<CheckBatch> requests) {
			if (!this.reads) {
				requests.disableAutoRequestWithInitial(0);
			}
			this.requests.complete(requests);
		}

		@Override
		public void onNext(CheckResults message) {
			this.results.addAll(message.getResultsList());
		}

		@Override
		public void onError(Throwable failure) {
			this.completed.completeExceptionally(failure);
		}

		@Override
		public void onCompleted() {
			this.completed.complete(null);
		}

	}

}
