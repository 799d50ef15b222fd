package dev.ratelimit.grpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.google.rpc.BadRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.oauth2.server.resource.authentication.JwtGrantedAuthoritiesConverter;
import org.springframework.security.oauth2.server.resource.authentication.ReactiveJwtAuthenticationConverter;
import org.springframework.security.oauth2.server.resource.authentication.ReactiveJwtGrantedAuthoritiesConverterAdapter;

import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminDoors;
import dev.ratelimit.admin.AdminOperations;
import dev.ratelimit.admin.AuditListener;
import dev.ratelimit.admin.Fields;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.ConfigurePolicyRequest;
import dev.ratelimit.grpc.v1.GetPolicyRequest;
import dev.ratelimit.grpc.v1.GetUsageRequest;
import dev.ratelimit.grpc.v1.ListPoliciesRequest;
import dev.ratelimit.grpc.v1.PolicyResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc.RateLimiterBlockingStub;
import dev.ratelimit.grpc.v1.ResetUsageRequest;
import dev.ratelimit.grpc.v1.UsageResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * The operations of administrators over a socket, without a store of policies.
 */
class AdminTests {

	private static final String[] POLICY = { "ratelimit.policies.orders.limits.per-tenant.by=tenant",
			"ratelimit.policies.orders.limits.per-tenant.quota=5/d", GrpcApplication.TRUSTED };

	private static final GetUsageRequest USAGE = GetUsageRequest.newBuilder()
		.setPolicy("orders")
		.putDimensions("tenant", "acme")
		.build();

	private static final ResetUsageRequest RESET = ResetUsageRequest.newBuilder()
		.setPolicy("orders")
		.putDimensions("tenant", "acme")
		.setReason("INC-1")
		.build();

	/** The first four are in memory; writing a policy needs a store. */
	@ParameterizedTest
	@CsvSource({ "NOBODY, PERMISSION_DENIED PERMISSION_DENIED PERMISSION_DENIED PERMISSION_DENIED PERMISSION_DENIED",
			"OTHER, PERMISSION_DENIED PERMISSION_DENIED PERMISSION_DENIED PERMISSION_DENIED PERMISSION_DENIED",
			"RATELIMIT_VIEWER, OK OK OK PERMISSION_DENIED PERMISSION_DENIED",
			"RATELIMIT_ADMIN, OK OK OK OK UNAVAILABLE" })
	void roleMayDoWhatItMayDoThroughTheEndpoint(String role, String codes) {
		try (GrpcApplication application = start(Open.class)) {
			RateLimiterBlockingStub client = role.equals("NOBODY") ? application.client() : client(application, role);
			assertThat(calls(client).map((call) -> code(call).name()).collect(Collectors.joining(" ")))
				.isEqualTo(codes);
		}
	}

	private static Stream<Runnable> calls(RateLimiterBlockingStub client) {
		return Stream.of(() -> client.getUsage(USAGE),
				() -> client.listPolicies(ListPoliciesRequest.getDefaultInstance()).forEachRemaining((policy) -> {
				}), () -> client.getPolicy(GetPolicyRequest.newBuilder().setId("orders").build()),
				() -> client.resetUsage(RESET), () -> client
					.configurePolicy(ConfigurePolicyRequest.newBuilder().setId("orders").setRollback(0).build()));
	}

	@Test
	void usageIsShownAndReset() {
		try (GrpcApplication application = start(Open.class)) {
			RateLimiterBlockingStub client = client(application, "RATELIMIT_ADMIN");
			client.check(CheckRequest.newBuilder().setPolicy("orders").putDimensions("tenant", "acme").build());
			assertThat(used(client.getUsage(USAGE))).isEqualTo(1);
			client.resetUsage(RESET);
			assertThat(used(client.getUsage(USAGE))).isZero();
		}
	}

	private static double used(UsageResponse answer) {
		return answer.getUsage()
			.getFieldsOrThrow("limits")
			.getListValue()
			.getValues(0)
			.getStructValue()
			.getFieldsOrThrow("quotas")
			.getListValue()
			.getValues(0)
			.getStructValue()
			.getFieldsOrThrow("used")
			.getNumberValue();
	}

	@Test
	void policiesAreListed() {
		try (GrpcApplication application = start(Open.class)) {
			List<String> ids = new ArrayList<>();
			client(application, "RATELIMIT_VIEWER").listPolicies(ListPoliciesRequest.getDefaultInstance())
				.forEachRemaining(
						(PolicyResponse policy) -> ids.add(policy.getPolicy().getFieldsOrThrow("id").getStringValue()));
			assertThat(ids).containsExactly("orders");
		}
	}

	@Test
	void errorsAreThoseOfTheEndpoint() throws Exception {
		try (GrpcApplication application = start(Open.class)) {
			RateLimiterBlockingStub client = client(application, "RATELIMIT_ADMIN");
			StatusRuntimeException invalid = catchThrowableOfType(StatusRuntimeException.class,
					() -> client.getUsage(GetUsageRequest.getDefaultInstance()));
			assertThat(invalid.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
			assertThat(StatusProto.fromThrowable(invalid)
				.getDetails(0)
				.unpack(BadRequest.class)
				.getFieldViolations(0)
				.getField()).isEqualTo("policy");
			assertThat(code(() -> client.getPolicy(GetPolicyRequest.newBuilder().setId("none").build())))
				.isEqualTo(Status.Code.NOT_FOUND);
			RateLimiterBlockingStub forged = application.client("authorization", "Bearer forged");
			assertThat(code(() -> forged.getUsage(USAGE))).isEqualTo(Status.Code.UNAUTHENTICATED);
		}
	}

	@Test
	void readOnlyAccessRefusesChanges() {
		try (GrpcApplication application = start(Roles.class)) {
			RateLimiterBlockingStub client = client(application, "RATELIMIT_ADMIN");
			assertThat(code(() -> client.getUsage(USAGE))).isEqualTo(Status.Code.OK);
			assertThat(code(() -> client.resetUsage(RESET))).isEqualTo(Status.Code.PERMISSION_DENIED);
		}
	}

	@Test
	void accessNoneRefusesEverything() {
		try (GrpcApplication application = start(Closed.class)) {
			RateLimiterBlockingStub client = client(application, "RATELIMIT_ADMIN");
			assertThat(calls(client).map(AdminTests::code)).containsOnly(Status.Code.PERMISSION_DENIED);
		}
	}

	@Test
	void changesAreRefusedWithoutSpringSecurity() {
		try (GrpcApplication application = start(Anybody.class)) {
			RateLimiterBlockingStub client = application.client();
			assertThat(code(() -> client.getUsage(USAGE))).isEqualTo(Status.Code.OK);
			assertThat(code(() -> client.resetUsage(RESET))).isEqualTo(Status.Code.PERMISSION_DENIED);
		}
	}

	@Test
	void auditTrailIsThatOfTheEndpoint() {
		try (GrpcApplication application = start(Open.class)) {
			Queue<String> entries = application.bean(Open.class).entries;
			client(application, "RATELIMIT_ADMIN").resetUsage(RESET);
			application.bean(AdminOperations.class)
				.usage()
				.reset(Fields.ofQuery(Map.of("policy", "orders", "tenant", "acme", "reason", "INC-1"), null),
						new TestingAuthenticationToken("ann", null, AdminCheck.AUTHORITY))
				.toCompletableFuture()
				.join();
			String overGrpc = entries.remove();
			assertThat(overGrpc).contains("usage-reset", "done", "ann", "INC-1").isEqualTo(entries.remove());
			code(() -> client(application, "RATELIMIT_VIEWER").resetUsage(RESET));
			assertThat(entries.remove()).contains("refused");
		}
	}

	private static GrpcApplication start(Class<?> configuration) {
		return GrpcApplication.start(List.of(configuration), POLICY);
	}

	private static RateLimiterBlockingStub client(GrpcApplication application, String role) {
		return application.client("authorization", TestTokens.bearer(Map.of("sub", "ann", "roles", List.of(role))));
	}

	private static Status.Code code(Runnable call) {
		StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call::run);
		return (failure != null) ? failure.getStatus().getCode() : Status.Code.OK;
	}

	/** Roles as in the gateway app. */
	@Configuration(proxyBeanMethods = false)
	static class Roles extends TestTokens.Reactive {

		@Bean
		ReactiveJwtAuthenticationConverter roles() {
			JwtGrantedAuthoritiesConverter roles = new JwtGrantedAuthoritiesConverter();
			roles.setAuthoritiesClaimName("roles");
			roles.setAuthorityPrefix("ROLE_");
			ReactiveJwtAuthenticationConverter converter = new ReactiveJwtAuthenticationConverter();
			converter.setJwtGrantedAuthoritiesConverter(new ReactiveJwtGrantedAuthoritiesConverterAdapter(roles));
			return converter;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Open extends Roles {

		private final Queue<String> entries = new ConcurrentLinkedQueue<>();

		@Bean
		AdminDoors doors() {
			return new AdminDoors(true, true);
		}

		@Bean
		AuditListener auditing() {
			return (entry) -> this.entries.add(String.join(" ", entry.action(), entry.outcome(), entry.actor(),
					entry.target(), entry.before(), entry.after(), entry.reason()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Closed extends Roles {

		@Bean
		AdminDoors doors() {
			return new AdminDoors(false, false);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Anybody {

		@Bean
		AdminDoors doors() {
			return new AdminDoors(true, true);
		}

		@Bean
		AdminCheck check() {
			return AdminCheck.ANYBODY;
		}

	}

}
