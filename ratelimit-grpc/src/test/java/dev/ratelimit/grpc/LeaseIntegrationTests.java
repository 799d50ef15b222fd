package dev.ratelimit.grpc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;

import com.google.protobuf.ByteString;
import com.google.rpc.BadRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.LeaseRequest;
import dev.ratelimit.grpc.v1.LeaseResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;
import dev.ratelimit.grpc.v1.RateLimiterGrpc.RateLimiterBlockingStub;
import dev.ratelimit.grpc.v1.ReleaseRequest;
import dev.ratelimit.grpc.v1.SettleRequest;
import dev.ratelimit.grpc.v1.SettleResponse;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Leases over sockets: taken at one instance, settled at another.
 */
@ExtendWith(RedisServers.class)
class LeaseIntegrationTests {

	private static final String SALT = "ratelimit.identity.hash.salt=a salt of more than sixteen characters";

	private static final String[] ORDERS = { GrpcApplication.TRUSTED, "ratelimit.policies.orders.enforcement=strict",
			"ratelimit.policies.orders.on-failure=deny", "ratelimit.policies.orders.timeout=30s",
			"ratelimit.policies.orders.limits.per-tenant.by=tenant",
			"ratelimit.policies.orders.limits.per-tenant.quota=100/d" };

	/** The clock that epochs and tokens read. */
	private static final AtomicLong MILLIS = new AtomicLong();

	@BeforeEach
	void now() {
		MILLIS.set(System.currentTimeMillis());
	}

	private static GrpcApplication instance(RedisServer redis, String... properties) {
		return GrpcApplication.start(List.of(Clock.class),
				all(new String[] { "ratelimit.backend=redis", "spring.data.redis.host=" + redis.host(),
						"spring.data.redis.port=" + redis.port(), SALT }, ORDERS, properties));
	}

	private static String[] all(String[]... properties) {
		return Stream.of(properties).flatMap(Arrays::stream).toArray(String[]::new);
	}

	private static LeaseRequest.Builder orders(long permits) {
		return LeaseRequest.newBuilder().setPolicy("orders").putDimensions("tenant", "acme").setPermits(permits);
	}

	private static CheckResponse check(RateLimiterBlockingStub client, long cost) {
		return client
			.check(CheckRequest.newBuilder().setPolicy("orders").putDimensions("tenant", "acme").setCost(cost).build());
	}

	private static SettleResponse settle(RateLimiterBlockingStub client, LeaseResponse lease, long actual) {
		return client.settle(SettleRequest.newBuilder().setToken(lease.getToken()).setActual(actual).build());
	}

	private static SettleResponse release(RateLimiterBlockingStub client, LeaseResponse lease) {
		return client.release(ReleaseRequest.newBuilder().setToken(lease.getToken()).build());
	}

	@Test
	void leaseIsSettledOnceByAnyInstance(RedisServer redis) {
		try (GrpcApplication one = instance(redis); GrpcApplication other = instance(redis)) {
			LeaseResponse lease = one.client().lease(orders(40).build());
			assertThat(lease.getGranted()).isEqualTo(40);
			assertThat(lease.getDecision().getAllowed()).isTrue();
			assertThat(lease.getDecision().getRemaining()).isEqualTo(60);
			assertThat(lease.getExpires().getSeconds()).isBetween(MILLIS.get() / 1_000 + 59, MILLIS.get() / 1_000 + 60);
			assertThat(lease.getToken().size()).isBetween(64, 512);
			assertThat(lease.getToken().toString(StandardCharsets.ISO_8859_1)).doesNotContain("acme");
			SettleResponse settled = settle(other.client(), lease, 10);
			assertThat(settled.getOutcome()).isEqualTo("refunded");
			assertThat(settled.getAlreadySettled()).isFalse();
			assertThat(check(one.client(), 0).getRemaining()).isEqualTo(90);
			for (GrpcApplication instance : List.of(one, other)) {
				SettleResponse again = settle(instance.client(), lease, 0);
				assertThat(again.getAlreadySettled()).isTrue();
				assertThat(again.getOutcome()).isEqualTo("nothing");
				assertThat(release(instance.client(), lease).getAlreadySettled()).isTrue();
			}
			assertThat(check(one.client(), 0).getRemaining()).isEqualTo(90);
		}
	}

	@Test
	void surplusIsChargedAsDebt(RedisServer redis) {
		try (GrpcApplication one = instance(redis); GrpcApplication other = instance(redis)) {
			LeaseResponse lease = one.client().lease(orders(90).build());
			assertThat(settle(other.client(), lease, 150).getOutcome()).isEqualTo("settled");
			CheckResponse refused = check(one.client(), 1);
			assertThat(refused.getAllowed()).isFalse();
			// 50 permits of debt, and one to take: half a day at 100 a day.
			assertThat(refused.getRetryAfter().getSeconds()).isGreaterThan(43_200);
		}
	}

	@Test
	void releaseGivesBack(RedisServer redis) {
		try (GrpcApplication one = instance(redis); GrpcApplication other = instance(redis)) {
			LeaseResponse lease = one.client().lease(orders(100).build());
			assertThat(check(other.client(), 1).getAllowed()).isFalse();
			assertThat(release(other.client(), lease).getOutcome()).isEqualTo("refunded");
			assertThat(check(one.client(), 100).getAllowed()).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "leased", "adaptive" })
	void leaseUnderAnotherEnforcementIsSettledElsewhere(String enforcement, RedisServer redis) {
		String property = "ratelimit.policies.orders.enforcement=" + enforcement;
		try (GrpcApplication one = instance(redis, property); GrpcApplication other = instance(redis, property)) {
			LeaseResponse lease = one.client().lease(orders(100).build());
			assertThat(lease.getGranted()).isEqualTo(100);
			assertThat(release(other.client(), lease).getOutcome()).isEqualTo("refunded");
			assertThat(release(one.client(), lease).getAlreadySettled()).isTrue();
			LeaseResponse next = other.client().lease(orders(100).build());
			assertThat(next.getGranted()).isEqualTo(100);
		}
	}

	@Test
	void leaseIsGrantedInPartOrNotAtAll(RedisServer redis) {
		try (GrpcApplication one = instance(redis)) {
			RateLimiterBlockingStub client = one.client();
			check(client, 70);
			LeaseResponse whole = client.lease(orders(50).build());
			assertThat(whole.getDecision().getAllowed()).isFalse();
			assertThat(whole.getDecision().getRefusedBy()).isEqualTo("per-tenant");
			assertThat(whole.getGranted()).isZero();
			assertThat(whole.getToken()).isEqualTo(ByteString.EMPTY);
			assertThat(whole.hasExpires()).isFalse();
			assertThat(client.lease(orders(50).setAtLeast(31).build()).getGranted()).isZero();
			LeaseResponse part = client.lease(orders(50).setAtLeast(20).build());
			assertThat(part.getGranted()).isEqualTo(30);
			assertThat(part.getDecision().getRemaining()).isZero();
			assertThat(settle(client, part, 25).getOutcome()).isEqualTo("refunded");
			assertThat(check(client, 0).getRemaining()).isEqualTo(5);
		}
	}

	@Test
	void concurrentSettlesOfOneLeaseCountOnce(RedisServer redis) {
		try (GrpcApplication one = instance(redis); GrpcApplication other = instance(redis)) {
			LeaseResponse lease = one.client().lease(orders(80).build());
			List<CompletableFuture<SettleResponse>> settles = new ArrayList<>();
			List<RateLimiterGrpc.RateLimiterStub> stubs = List.of(RateLimiterGrpc.newStub(one.channel()),
					RateLimiterGrpc.newStub(other.channel()));
			for (int i = 0; i < 40; i++) {
				FirstAnswer<SettleResponse> answer = new FirstAnswer<>();
				stubs.get(i % 2)
					.settle(SettleRequest.newBuilder().setToken(lease.getToken()).setActual(30).build(), answer);
				settles.add(answer.message());
			}
			assertThat(settles.stream().map(CompletableFuture::join))
				.filteredOn((answer) -> !answer.getAlreadySettled())
				.singleElement()
				.satisfies((answer) -> assertThat(answer.getOutcome()).isEqualTo("refunded"));
			assertThat(check(one.client(), 0).getRemaining()).isEqualTo(70);
		}
	}

	@Test
	void tokenThatIsForgedDamagedOrForeignIsInvalid(RedisServer redis) {
		String[] foreign = { "ratelimit.identity.hash.salt=another salt of more than sixteen characters" };
		String[] prefix = { "ratelimit.key-prefix=other" };
		try (GrpcApplication one = instance(redis);
				GrpcApplication otherSalt = instance(redis, foreign);
				GrpcApplication otherPrefix = instance(redis, prefix)) {
			LeaseResponse lease = one.client().lease(orders(40).build());
			byte[] token = lease.getToken().toByteArray();
			RateLimiterBlockingStub client = one.client();
			for (int i = 0; i < token.length; i++) {
				byte[] forged = token.clone();
				forged[i] ^= 1;
				assertInvalid(client, ByteString.copyFrom(forged));
			}
			for (int length : new int[] { 0, 1, 56, 57, token.length - 32, token.length - 1 }) {
				assertInvalid(client, lease.getToken().substring(0, length));
			}
			assertInvalid(client, lease.getToken().concat(ByteString.copyFrom(new byte[1])));
			assertInvalid(client, ByteString.copyFrom(new byte[LeaseTokens.MAX_BYTES + 1]));
			assertInvalid(otherSalt.client(), lease.getToken());
			assertInvalid(otherPrefix.client(), lease.getToken());
			assertThat(check(client, 0).getRemaining()).isEqualTo(60);
			assertThat(release(client, lease).getAlreadySettled()).isFalse();
		}
	}

	private static void assertInvalid(RateLimiterBlockingStub client, ByteString token) {
		assertThat(field(() -> client.settle(SettleRequest.newBuilder().setToken(token).setActual(0).build())))
			.isEqualTo("token");
		assertThat(field(() -> client.release(ReleaseRequest.newBuilder().setToken(token).build()))).isEqualTo("token");
	}

	private static String field(Supplier<?> call) {
		StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call::get);
		assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
		try {
			return StatusProto.fromThrowable(failure)
				.getDetails(0)
				.unpack(BadRequest.class)
				.getFieldViolations(0)
				.getField();
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
	}

	@Test
	void expiredLeaseStaysTaken(RedisServer redis) {
		try (GrpcApplication one = instance(redis)) {
			RateLimiterBlockingStub client = one.client();
			LeaseResponse lease = client.lease(orders(40).setExpiry(seconds(5)).build());
			LeaseResponse last = client.lease(orders(20).setExpiry(seconds(5)).build());
			MILLIS.addAndGet(4_999);
			assertThat(release(client, last).getOutcome()).isEqualTo("refunded");
			MILLIS.incrementAndGet();
			for (Supplier<?> call : List.<Supplier<?>>of(() -> settle(client, lease, 1),
					() -> release(client, lease))) {
				StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call::get);
				assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
				assertThat(failure.getStatus().getDescription()).contains("expired");
			}
			assertThat(check(client, 0).getRemaining()).isEqualTo(60);
		}
	}

	private static com.google.protobuf.Duration seconds(long seconds) {
		return com.google.protobuf.Duration.newBuilder().setSeconds(seconds).build();
	}

	@Test
	void leaseOutlivesTheTurnOfAnEpochAndNoMore(RedisServer redis) {
		Duration rotate = Duration.ofHours(1);
		String[] property = { "ratelimit.identity.hash.rotate=1h",
				"ratelimit.policies.orders.limits.per-tenant.quota=100/h" };
		try (GrpcApplication one = instance(redis, property); GrpcApplication other = instance(redis, property)) {
			long turn = (MILLIS.get() / rotate.toMillis() + 1) * rotate.toMillis();
			MILLIS.set(turn - 1_000);
			LeaseResponse lease = one.client().lease(orders(10).build());
			LeaseResponse longest = one.client().lease(orders(10).setExpiry(seconds(3_600)).build());
			MILLIS.set(turn + 58_000);
			assertThat(release(other.client(), lease).getOutcome()).isEqualTo("refunded");
			MILLIS.set(turn + 59_000);
			assertThat(
					catchThrowableOfType(StatusRuntimeException.class, () -> release(other.client(), lease)).getStatus()
						.getCode())
				.isEqualTo(Status.Code.FAILED_PRECONDITION);
			MILLIS.set(turn + rotate.toMillis() - 1_001);
			assertThat(release(other.client(), longest).getOutcome()).isEqualTo("refunded");
			MILLIS.set(turn + rotate.toMillis());
			assertInvalid(other.client(), longest.getToken());
		}
	}

	@Test
	void instancesWithoutASaltShareOneForTheirTokens(RedisServer redis) {
		try (GrpcApplication one = instance(redis, "ratelimit.identity.hash.salt=");
				GrpcApplication other = instance(redis, "ratelimit.identity.hash.salt=")) {
			Salt first = one.bean(Salt.class);
			await().atMost(Duration.ofSeconds(60)).until(() -> first.text().equals(other.bean(Salt.class).text()));
			LeaseResponse lease = one.client().lease(orders(40).build());
			assertThat(release(other.client(), lease).getOutcome()).isEqualTo("refunded");
		}
	}

	@Test
	void untrustedPeerLeasesForItselfAndSettlesByItsToken(RedisServer redis) {
		String byAddress = "ratelimit.policies.orders.limits.per-tenant.by=ip";
		try (GrpcApplication trusted = instance(redis, byAddress);
				GrpcApplication one = instance(redis, byAddress, "ratelimit.grpc.trusted-peers=")) {
			LeaseRequest request = orders(40).putDimensions("ip", "203.0.113.9").build();
			LeaseResponse lease = one.client().lease(request);
			assertThat(lease.getGranted()).isEqualTo(40);
			CheckRequest.Builder question = CheckRequest.newBuilder().setPolicy("orders").setCost(0);
			assertThat(trusted.client().check(question.putDimensions("ip", "203.0.113.9").build()).getRemaining())
				.isEqualTo(100);
			assertThat(trusted.client().check(question.putDimensions("ip", "127.0.0.1").build()).getRemaining())
				.isEqualTo(60);
			assertThat(release(one.client(), lease).getOutcome()).isEqualTo("refunded");
			LeaseResponse foreign = trusted.client().lease(request);
			assertThat(release(one.client(), foreign).getOutcome()).isEqualTo("refunded");
		}
	}

	@Test
	void retryOfALeaseIsSettledOnce(RedisServer redis) {
		String[] idempotent = { "ratelimit.policies.orders.idempotency.ttl=10m" };
		try (GrpcApplication one = instance(redis, idempotent); GrpcApplication other = instance(redis, idempotent)) {
			LeaseRequest request = orders(40).setRequestId("job-1").build();
			LeaseResponse lease = one.client().lease(request);
			LeaseResponse retry = other.client().lease(request);
			assertThat(retry.getGranted()).isEqualTo(40);
			assertThat(check(one.client(), 0).getRemaining()).isEqualTo(60);
			assertThat(settle(one.client(), retry, 30).getOutcome()).isEqualTo("refunded");
			assertThat(settle(other.client(), lease, 20).getAlreadySettled()).isTrue();
			assertThat(check(one.client(), 0).getRemaining()).isEqualTo(70);
		}
	}

	@Test
	void idOfAnEarlierRequestGrantsNoMoreThanTheLeaseAsksFor(RedisServer redis) {
		try (GrpcApplication one = instance(redis, "ratelimit.policies.orders.idempotency.ttl=10m")) {
			RateLimiterBlockingStub client = one.client();
			client.check(CheckRequest.newBuilder()
				.setPolicy("orders")
				.putDimensions("tenant", "acme")
				.setCost(40)
				.setRequestId("job-1")
				.build());
			assertThat(client.lease(orders(30).setRequestId("job-1").build()).getGranted()).isEqualTo(30);
			LeaseResponse smaller = client.lease(orders(10).setRequestId("job-1").build());
			assertThat(smaller.getGranted()).isEqualTo(10);
			assertThat(check(client, 0).getRemaining()).isEqualTo(20);
			assertThat(release(client, smaller).getOutcome()).isEqualTo("refunded");
			assertThat(check(client, 0).getRemaining()).isEqualTo(30);
		}
	}

	@Test
	void leaseThatTookNothingHasNothingToSettle(RedisServer redis) {
		try (GrpcApplication one = instance(redis, "ratelimit.allow[0].tenant=acme")) {
			LeaseResponse lease = one.client().lease(orders(1_000).build());
			assertThat(lease.getGranted()).isEqualTo(1_000);
			for (int i = 0; i < 2; i++) {
				SettleResponse settled = settle(one.client(), lease, 10);
				assertThat(settled.getOutcome()).isEqualTo("nothing");
				assertThat(settled.getAlreadySettled()).isFalse();
			}
		}
		try (GrpcApplication shadow = instance(redis, "ratelimit.policies.orders.mode=shadow")) {
			LeaseResponse lease = shadow.client().lease(orders(1_000).build());
			assertThat(lease.getGranted()).isEqualTo(1_000);
			assertThat(lease.getDecision().getRemaining()).isEqualTo(-1);
		}
	}

	@Test
	void fieldsAreChecked(RedisServer redis) {
		try (GrpcApplication one = instance(redis)) {
			RateLimiterBlockingStub client = one.client();
			assertThat(field(() -> client.lease(orders(0).build()))).isEqualTo("permits");
			assertThat(field(() -> client.lease(orders(90_000_001).build()))).isEqualTo("permits");
			assertThat(field(() -> client.lease(orders(5).setAtLeast(0).build()))).isEqualTo("at_least");
			assertThat(field(() -> client.lease(orders(5).setAtLeast(6).build()))).isEqualTo("at_least");
			assertThat(field(() -> client.lease(orders(5).setExpiry(seconds(0)).build()))).isEqualTo("expiry");
			assertThat(field(() -> client.lease(orders(5).setExpiry(seconds(3_601)).build()))).isEqualTo("expiry");
			assertThat(field(() -> client.lease(orders(5).setExpiry(seconds(Long.MAX_VALUE)).build())))
				.isEqualTo("expiry");
			assertThat(field(() -> client.lease(LeaseRequest.newBuilder().setPermits(1).build()))).isEqualTo("policy");
			LeaseResponse lease = client.lease(orders(5).build());
			SettleRequest.Builder settle = SettleRequest.newBuilder().setToken(lease.getToken());
			assertThat(field(() -> client.settle(settle.build()))).isEqualTo("actual");
			assertThat(field(() -> client.settle(settle.setActual(-1).build()))).isEqualTo("actual");
			assertThat(field(() -> client.settle(settle.setActual(90_000_001).build()))).isEqualTo("actual");
			assertThat(catchThrowableOfType(StatusRuntimeException.class,
					() -> client.lease(orders(1).setPolicy("other").build()))
				.getStatus()
				.getCode()).isEqualTo(Status.Code.NOT_FOUND);
			assertThat(check(client, 0).getRemaining()).isEqualTo(95);
		}
	}

	@Test
	void countersInMemoryHaveNoLeases() {
		try (GrpcApplication one = GrpcApplication.start(all(ORDERS, new String[] { "ratelimit.backend=memory" }))) {
			StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class,
					() -> one.client().lease(orders(1).build()));
			assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
			assertThat(failure.getStatus().getDescription()).contains("Redis", "ratelimit.backend");
			assertThat(check(one.client(), 0).getRemaining()).isEqualTo(100);
		}
	}

	@Test
	void everySlotOfAClusterIsSettled(RedisCluster cluster) {
		String[] properties = all(ORDERS,
				new String[] { "ratelimit.backend=redis", SALT,
						"spring.data.redis.cluster.nodes=127.0.0.1:" + cluster.servers().get(0).port(),
						"ratelimit.policies.orders.limits.per-ip.by=ip",
						"ratelimit.policies.orders.limits.per-ip.quota=50/d" });
		try (GrpcApplication one = GrpcApplication.start(properties);
				GrpcApplication other = GrpcApplication.start(properties)) {
			LeaseResponse lease = one.client().lease(orders(40).putDimensions("ip", "203.0.113.9").build());
			assertThat(lease.getGranted()).isEqualTo(40);
			assertThat(settle(other.client(), lease, 10).getOutcome()).isEqualTo("refunded");
			assertThat(release(one.client(), lease).getAlreadySettled()).isTrue();
			CheckResponse left = one.client()
				.check(CheckRequest.newBuilder()
					.setPolicy("orders")
					.putDimensions("tenant", "acme")
					.putDimensions("ip", "203.0.113.9")
					.setCost(0)
					.build());
			assertThat(left.getQuotasList()).extracting((quota) -> quota.getRemaining())
				.containsExactlyInAnyOrder(90L, 40L);
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class Clock {

		@Bean
		Epochs epochs(Salt salt, RateLimitProperties properties) {
			return new Epochs(salt, properties.identity().hash().rotate(), MILLIS::get);
		}

	}

}
