package dev.ratelimit.grpc;

import java.util.List;
import java.util.Map;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import com.google.rpc.BadRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.security.authentication.TestingAuthenticationToken;

import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminOperations;
import dev.ratelimit.admin.Fields;
import dev.ratelimit.grpc.v1.ConfigurePolicyRequest;
import dev.ratelimit.grpc.v1.PolicyResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc.RateLimiterBlockingStub;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Policies that are written over gRPC, to a store in Redis.
 */
@ExtendWith(RedisServers.class)
class ConfigurePolicyIntegrationTests {

	private static Struct policy(String quota) {
		return Structs.of(Map.of("limits", Map.of("per-tenant", Map.of("by", "tenant", "quota", quota))));
	}

	@Test
	void versionIsWrittenBroughtBackAndDeleted(RedisServer redis) throws Exception {
		try (GrpcApplication application = GrpcApplication.start(List.of(AdminTests.Open.class),
				"ratelimit.backend=redis", "spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port(), "ratelimit.policies-store.type=redis",
				"ratelimit.policies-store.snapshot-file=none", "ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=5/d")) {
			RateLimiterBlockingStub client = application.client("authorization",
					TestTokens.bearer(Map.of("sub", "ann", "roles", List.of("RATELIMIT_ADMIN"))));
			assertThat(version(client.configurePolicy(orders().setPolicy(policy("7/d")).setExpect(0).build())))
				.isEqualTo(1);
			// The endpoint shows what these operations show.
			assertThat(application.bean(AdminOperations.class)
				.policies()
				.show("orders", Fields.ofQuery(Map.of("version", "1"), null),
						new TestingAuthenticationToken("bob", null, AdminCheck.VIEWER))
				.toCompletableFuture()
				.join()
				.toString()).contains("7/d", "ann", "INC-1");

			StatusRuntimeException conflict = failure(client, orders().setPolicy(policy("8/d")).setExpect(0));
			assertThat(conflict.getStatus().getCode()).isEqualTo(Status.Code.ABORTED);
			StatusRuntimeException invalid = failure(client, orders().setPolicy(policy("many")));
			assertThat(invalid.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
			assertThat(field(invalid)).contains("per-tenant");
			assertThat(failure(client, orders().setRollback(9)).getStatus().getCode()).isIn(Status.Code.NOT_FOUND,
					Status.Code.INVALID_ARGUMENT);

			assertThat(version(client.configurePolicy(orders().setPolicy(policy("8/d")).build()))).isEqualTo(2);
			assertThat(version(client.configurePolicy(orders().setRollback(1).build()))).isEqualTo(3);

			Struct staged = policy("9/d").toBuilder()
				.putFields("rollout",
						Value.newBuilder()
							.setStructValue(Structs.of(Map.of("stages", List.of(10, 100), "hold", "10m")))
							.build())
				.build();
			assertThat(version(client.configurePolicy(orders().setPolicy(staged).build()))).isEqualTo(4);
			assertThat(version(client.configurePolicy(orders().setPolicy(policy("8/d")).build()))).isEqualTo(5);
			assertThat(field(failure(client, orders().setRollback(4)))).isEqualTo("rollout");
			assertThat(field(failure(client, orders().setRollback(4).setRollout("nobody")))).isEqualTo("rollout");
			assertThat(field(failure(client, orders().setPolicy(policy("8/d")).setRollout("everybody"))))
				.isEqualTo("rollout");
			PolicyResponse everybody = client.configurePolicy(orders().setRollback(4).setRollout("everybody").build());
			assertThat(version(everybody)).isEqualTo(6);

			PolicyResponse deleted = client.configurePolicy(orders().setDelete(true).setForce(true).build());
			assertThat(deleted.getPolicy().getFieldsOrThrow("deleted").getBoolValue()).isTrue();
		}
	}

	private static ConfigurePolicyRequest.Builder orders() {
		return ConfigurePolicyRequest.newBuilder().setId("orders").setReason("INC-1");
	}

	private static String field(StatusRuntimeException failure) throws Exception {
		assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
		return StatusProto.fromThrowable(failure)
			.getDetails(0)
			.unpack(BadRequest.class)
			.getFieldViolations(0)
			.getField();
	}

	private static double version(PolicyResponse answer) {
		return answer.getPolicy().getFieldsOrThrow("version").getNumberValue();
	}

	private static StatusRuntimeException failure(RateLimiterBlockingStub client,
			ConfigurePolicyRequest.Builder request) {
		return catchThrowableOfType(StatusRuntimeException.class, () -> client.configurePolicy(request.build()));
	}

}
