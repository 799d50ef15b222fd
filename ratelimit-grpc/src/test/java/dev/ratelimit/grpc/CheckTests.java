package dev.ratelimit.grpc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import com.google.rpc.BadRequest;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc.RateLimiterBlockingStub;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.WebCall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * The native service over a socket.
 */
class CheckTests {

	private static final String PER_TENANT = "ratelimit.policies.orders.limits.per-tenant.by=tenant";

	private static final String THREE_A_DAY = "ratelimit.policies.orders.limits.per-tenant.quota=3/d";

	private static CheckRequest.Builder orders() {
		return CheckRequest.newBuilder().setPolicy("orders");
	}

	private static StatusRuntimeException failure(RateLimiterBlockingStub client, CheckRequest.Builder request) {
		return catchThrowableOfType(StatusRuntimeException.class, () -> client.check(request.build()));
	}

	@Test
	void answersWithTheStateOfTheLimitAndThenWithARefusal() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY, GrpcApplication.TRUSTED)) {
			RateLimiterBlockingStub client = application.client();
			CheckRequest request = orders().putDimensions("tenant", "acme").setCost(2).build();
			CheckResponse admitted = client.check(request);
			assertThat(admitted.getAllowed()).isTrue();
			assertThat(admitted.getRemaining()).isEqualTo(1);
			assertThat(admitted.getPolicy()).isEqualTo("orders");
			assertThat(admitted.getSource()).isEqualTo("memory");
			assertThat(admitted.getResetAfter().getSeconds()).isPositive();
			assertThat(admitted.hasRetryAfter()).isFalse();
			assertThat(admitted.getQuotasList()).singleElement()
				.satisfies((quota) -> assertThat(quota.getQuota()).isEqualTo("3/d"));
			CheckResponse refused = client.check(request);
			assertThat(refused.getAllowed()).isFalse();
			assertThat(refused.getRefusedBy()).isEqualTo("per-tenant");
			assertThat(refused.getRetryAfter().getSeconds()).isPositive();
			assertThat(client.check(orders().putDimensions("tenant", "other").build()).getAllowed()).isTrue();
		}
	}

	@Test
	void denyListHitIsAnAnswerAndNotAnError() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY, GrpcApplication.TRUSTED,
				"ratelimit.deny[0].tenant=evil")) {
			CheckResponse answer = application.client().check(orders().putDimensions("tenant", "evil").build());
			assertThat(answer.getAllowed()).isFalse();
			assertThat(answer.getReason()).isEqualTo("list");
		}
	}

	@Test
	void errorsNameTheField() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY, GrpcApplication.TRUSTED)) {
			RateLimiterBlockingStub client = application.client();
			assertThat(field(failure(client, CheckRequest.newBuilder()))).isEqualTo("policy");
			assertThat(field(failure(client, orders().setCost(-1)))).isEqualTo("cost");
			assertThat(field(failure(client, orders().setCost(90_000_001)))).isEqualTo("cost");
			assertThat(field(failure(client, orders().putDimensions("Tenant", "x")))).isEqualTo("dimensions");
			assertThat(field(failure(client, orders().putDimensions("region", "x")))).isEqualTo("dimensions");
			assertThat(field(failure(client, orders().putDimensions("ip", "localhost")))).isEqualTo("dimensions");
			assertThat(field(failure(client, orders().setRequestId("a b")))).isEqualTo("request_id");
		}
	}

	@Test
	void retryOfATrustedPeerIsNotCountedAgain() {
		String[] idempotent = { PER_TENANT, THREE_A_DAY, "ratelimit.policies.orders.idempotency.ttl=10m" };
		CheckRequest request = orders().putDimensions("tenant", "acme").setRequestId("id-1").build();
		try (GrpcApplication application = GrpcApplication.start(idempotent[0], idempotent[1], idempotent[2],
				GrpcApplication.TRUSTED)) {
			application.client().check(request);
			assertThat(application.client().check(request).getRemaining()).isEqualTo(2);
			assertThat(application.client().check(request.toBuilder().setRequestId("id-2").build()).getRemaining())
				.isOne();
		}
		try (GrpcApplication application = GrpcApplication.start(idempotent)) {
			application.client().check(request);
			assertThat(application.client().check(request).getRemaining()).isOne();
		}
	}

	/** A trusted proxy of HTTP is no trusted peer: its calls are its own. */
	@Test
	void idInTheMetadataHasNoEffect() {
		try (GrpcApplication application = GrpcApplication.start("ratelimit.policies.orders.limits.per-ip.by=ip",
				"ratelimit.policies.orders.limits.per-ip.quota=3/d",
				"ratelimit.policies.orders.idempotency.header=Idempotency-Key",
				"ratelimit.identity.trusted-proxies=127.0.0.1/32")) {
			RateLimiterBlockingStub client = application.client("Idempotency-Key", "id-1");
			assertThat(client.check(orders().build()).getRemaining()).isEqualTo(2);
			assertThat(client.check(orders().build()).getRemaining()).isOne();
		}
	}

	private static String field(StatusRuntimeException failure) {
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
	void unknownPolicyIsNotFound() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY)) {
			StatusRuntimeException failure = failure(application.client(),
					CheckRequest.newBuilder().setPolicy("other"));
			assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
			assertThat(failure.getStatus().getDescription()).doesNotContain("other");
		}
	}

	@Test
	void callerWithoutIdentityIsUnauthenticatedIfThePolicyDeniesIt() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY,
				"ratelimit.policies.orders.on-missing-identity=deny")) {
			assertThat(failure(application.client(), orders()).getStatus().getCode())
				.isEqualTo(Status.Code.UNAUTHENTICATED);
		}
	}

	@Test
	void failureModeDenyIsUnavailableWithTheTimeToWait() throws Exception {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY,
				"ratelimit.switch.mode=deny")) {
			StatusRuntimeException failure = failure(application.client(), orders());
			assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
			RetryInfo retry = StatusProto.fromThrowable(failure).getDetails(0).unpack(RetryInfo.class);
			assertThat(retry.getRetryDelay().getSeconds()).isPositive();
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { TestTokens.Reactive.class, TestTokens.Blocking.class })
	void tokenIdentifiesThePeerThatIsNotTrusted(Class<?> decoder) {
		try (GrpcApplication application = GrpcApplication.start(List.of(decoder, Recorder.class), PER_TENANT,
				THREE_A_DAY, "ratelimit.dimensions.account.header=x-account")) {
			String token = TestTokens.bearer(Map.of("tenant_id", "acme", "sub", "ann"));
			RateLimiterBlockingStub client = application.client("authorization", token);
			client.check(orders().putDimensions("tenant", "victim")
				.putDimensions("user", "bob")
				.putDimensions("ip", "203.0.113.9")
				.putDimensions("account", "7")
				.setRequestId("id-1")
				.build());
			Request request = application.bean(Recorder.class).requests.remove();
			assertThat(request.verified(Dimension.TENANT)).isEqualTo("acme");
			assertThat(request.verified(Dimension.USER)).isEqualTo("ann");
			assertThat(request.verified(Dimension.IP)).isEqualTo("127.0.0.1");
			assertThat(request.dimensions()).containsEntry(new Dimension("account"), "7");
			assertThat(request.unverified()).contains(new Dimension("account"));
			assertThat(request.id()).isNull();
		}
	}

	@Test
	void peerThatIsNotTrustedDoesNotSpendTheQuotaOfAVerifiedCaller() {
		try (GrpcApplication application = GrpcApplication.start(List.of(TestTokens.Reactive.class),
				"ratelimit.dimensions.org.claim=org.id", "ratelimit.policies.orders.limits.per-org.by=org",
				"ratelimit.policies.orders.limits.per-org.quota=1/d")) {
			application.client().check(orders().putDimensions("org", "acme").build());
			String token = TestTokens.bearer(Map.of("org", Map.of("id", "acme")));
			CheckResponse answer = application.client("authorization", token).check(orders().build());
			assertThat(answer.getAllowed()).isTrue();
			assertThat(answer.getRemaining()).isZero();
		}
	}

	@Test
	void peerThatIsNotTrustedStatesOnlyWhatHttpCallersChooseToo() {
		try (GrpcApplication application = GrpcApplication.start(List.of(Recorder.class, Resolvers.class), PER_TENANT,
				THREE_A_DAY, "ratelimit.dimensions.org.claim=org.id")) {
			application.client()
				.check(orders().putDimensions("org", "acme")
					.putDimensions("contract", "7")
					.putDimensions("key", "k")
					.putDimensions("unknown", "x")
					.putDimensions("account", "8")
					.putDimensions("route", "r")
					.build());
			Request request = application.bean(Recorder.class).requests.remove();
			assertThat(request.dimensions()).containsEntry(new Dimension("account"), "8")
				.containsEntry(Dimension.ROUTE, "r")
				.doesNotContainKeys(new Dimension("org"), new Dimension("contract"), new Dimension("key"),
						new Dimension("unknown"));
			assertThat(request.unverified()).contains(new Dimension("account"), Dimension.ROUTE);
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { TestTokens.Reactive.class, TestTokens.Blocking.class })
	void invalidTokenIsUnauthenticated(Class<?> decoder) {
		try (GrpcApplication application = GrpcApplication.start(List.of(decoder), PER_TENANT, THREE_A_DAY)) {
			assertThat(failure(application.client("authorization", "Bearer forged"), orders()).getStatus().getCode())
				.isEqualTo(Status.Code.UNAUTHENTICATED);
		}
	}

	@Test
	void forwardedAddressOfAPeerThatIsNotTrustedIsIgnored() {
		try (GrpcApplication application = GrpcApplication.start(List.of(Recorder.class), PER_TENANT, THREE_A_DAY,
				"ratelimit.identity.trusted-hops=1")) {
			application.client("x-forwarded-for", "203.0.113.9").check(orders().build());
			assertThat(application.bean(Recorder.class).requests.remove().dimensions()).containsEntry(Dimension.IP,
					"127.0.0.1");
		}
	}

	@Test
	void trustedPeerSaysWhoCalls() {
		try (GrpcApplication application = GrpcApplication.start(List.of(TestTokens.Reactive.class, Recorder.class),
				PER_TENANT, THREE_A_DAY, GrpcApplication.TRUSTED)) {
			String token = TestTokens.bearer(Map.of("tenant_id", "platform", "sub", "service", "tier", "pro"));
			application.client("authorization", token)
				.check(orders().putDimensions("tenant", "acme")
					.putDimensions("ip", "::ffff:203.0.113.9")
					.putDimensions("account", "7")
					.setRequestId("id-1")
					.build());
			Request request = application.bean(Recorder.class).requests.remove();
			assertThat(request.dimensions()).containsEntry(Dimension.TENANT, "acme")
				.containsEntry(Dimension.IP, "203.0.113.9")
				.doesNotContainKey(Dimension.USER);
			assertThat(request.unverified()).isEmpty();
			assertThat(request.tier()).isNull();
			assertThat(request.id()).isEqualTo("id-1");
		}
	}

	@Test
	void addressOfATrustedPeerIsNotTheCallers() {
		try (GrpcApplication application = GrpcApplication.start(List.of(Recorder.class), PER_TENANT, THREE_A_DAY,
				GrpcApplication.TRUSTED)) {
			application.client().check(orders().putDimensions("tenant", "acme").build());
			assertThat(application.bean(Recorder.class).requests.remove().dimensions()).doesNotContainKey(Dimension.IP);
		}
	}

	@Test
	void keyOfATrustedPeerSaysNothingAboutTheCallerItNames() {
		String digest = "sha256:" + HexFormat.of().formatHex(sha256("sk_service"));
		try (GrpcApplication application = GrpcApplication.start(List.of(Recorder.class), PER_TENANT, THREE_A_DAY,
				GrpcApplication.TRUSTED, "ratelimit.identity.api-keys[" + digest + "].tier=pro",
				"ratelimit.allow[0].api-key=sk_service")) {
			RateLimiterBlockingStub service = application.client("x-api-key", "sk_service");
			assertThat(service.check(orders().build()).getReason()).isEqualTo("list");
			assertThat(application.bean(Recorder.class).requests.remove().tier()).isEqualTo("pro");
			assertThat(service.check(orders().putDimensions("tenant", "acme").build()).getReason()).isEqualTo("limits");
			Request named = application.bean(Recorder.class).requests.remove();
			assertThat(named.dimensions()).doesNotContainKey(Dimension.API_KEY);
			assertThat(named.tier()).isNull();
			service.check(orders().putDimensions("tenant", "acme").putDimensions("api-key", "sk_other").build());
			assertThat(application.bean(Recorder.class).requests.remove().dimensions()).containsEntry(Dimension.API_KEY,
					"sk_other");
		}
	}

	private static byte[] sha256(String text) {
		try {
			return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void addressOfTheSocketIsVerifiedBehindTrustedHopsToo() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY,
				"ratelimit.identity.trusted-hops=1", "ratelimit.allow[0].ip=127.0.0.1/32")) {
			assertThat(application.client().check(orders().build()).getReason()).isEqualTo("list");
		}
	}

	@Test
	void addressOfAKnownProxyIsNotVerified() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY,
				"ratelimit.identity.trusted-hops=1", "ratelimit.identity.trusted-proxies=127.0.0.0/8",
				"ratelimit.allow[0].ip=127.0.0.1/32")) {
			assertThat(application.client().check(orders().build()).getReason()).isEqualTo("limits");
		}
	}

	@Test
	void checkWithoutACostTakesTheEstimateOfThePolicy() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT, THREE_A_DAY, GrpcApplication.TRUSTED,
				"ratelimit.policies.orders.cost.estimate=2")) {
			assertThat(application.client().check(orders().putDimensions("tenant", "acme").build()).getRemaining())
				.isEqualTo(1);
		}
	}

	@Test
	void banIsAnAnswerWithTheTimeToWait() {
		try (GrpcApplication application = GrpcApplication.start(GrpcApplication.TRUSTED,
				"ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=1/d", "ratelimit.policies.orders.penalty.after=1",
				"ratelimit.policies.orders.penalty.ban-after=2")) {
			RateLimiterBlockingStub client = application.client();
			CheckRequest request = orders().putDimensions("user", "ann").build();
			CheckResponse answer = await().atMost(Duration.ofSeconds(60))
				.until(() -> client.check(request), (given) -> given.getReason().equals("ban"));
			assertThat(answer.getAllowed()).isFalse();
			assertThat(answer.getRetryAfter().getSeconds()).isPositive();
		}
	}

	@Test
	void policyInShadowShowsNothing() {
		try (GrpcApplication application = GrpcApplication.start(PER_TENANT,
				"ratelimit.policies.orders.limits.per-tenant.quota=1/d", "ratelimit.policies.orders.mode=shadow",
				GrpcApplication.TRUSTED)) {
			RateLimiterBlockingStub client = application.client();
			CheckRequest request = orders().putDimensions("tenant", "acme").build();
			client.check(request);
			CheckResponse answer = client.check(request);
			assertThat(answer.getAllowed()).isTrue();
			assertThat(answer.getRemaining()).isEqualTo(-1);
			assertThat(answer.getRefusedBy()).isEmpty();
			assertThat(answer.getQuotasList()).isEmpty();
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class Resolvers {

		@Bean
		DimensionResolver account() {
			return (call) -> null;
		}

		@Bean
		DimensionResolver key() {
			return (call) -> null;
		}

		@Bean
		DimensionResolver contract() {
			return new DimensionResolver() {

				@Override
				public String resolve(WebCall call) {
					return "";
				}

				@Override
				public boolean verified() {
					return true;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Recorder {

		private final Queue<Request> requests = new ConcurrentLinkedQueue<>();

		@Bean
		DecisionListener recording() {
			return (request, decision, nanos) -> this.requests.add(request);
		}

	}

}
