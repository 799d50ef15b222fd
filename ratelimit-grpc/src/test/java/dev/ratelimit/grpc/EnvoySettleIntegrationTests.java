package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import com.google.protobuf.UInt64Value;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Hits that Envoy sends after a response, on Redis.
 */
@ExtendWith(RedisServers.class)
class EnvoySettleIntegrationTests {

	@ParameterizedTest
	@ValueSource(strings = { "strict", "leased" })
	void hitsAreChargedWithoutACheck(String enforcement, RedisServer redis) {
		try (GrpcApplication application = GrpcApplication.start("ratelimit.backend=redis",
				"spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port(),
				"ratelimit.key-prefix=" + enforcement, "ratelimit.policies.tokens.enforcement=" + enforcement,
				"ratelimit.policies.tokens.on-failure=deny", "ratelimit.policies.tokens.timeout=2s",
				"ratelimit.policies.tokens.limits.per-tenant.by=tenant",
				"ratelimit.policies.tokens.limits.per-tenant.quota=100/d", GrpcApplication.TRUSTED,
				"ratelimit.grpc.envoy.domains.llm.policy=tokens",
				"ratelimit.grpc.envoy.domains.llm.entries.tenant=tenant",
				"ratelimit.grpc.envoy.domains.llm.settle=true")) {
			RateLimitServiceGrpc.RateLimitServiceBlockingStub envoy = RateLimitServiceGrpc
				.newBlockingStub(application.channel());
			assertThat(ask(envoy, message())).isEqualTo(Code.OK);
			assertThat(ask(envoy, message().setHitsAddend(150))).isEqualTo(Code.OK);
			RateLimitRequest.Builder question = message();
			question.getDescriptorsBuilder(0).setHitsAddend(UInt64Value.of(0));
			await().atMost(Duration.ofSeconds(60)).until(() -> ask(envoy, question) == Code.OVER_LIMIT);
			assertThat(ask(envoy, message().setHitsAddend(1))).isEqualTo(Code.OK);
		}
	}

	private static RateLimitRequest.Builder message() {
		RateLimitRequest.Builder message = RateLimitRequest.newBuilder().setDomain("llm");
		message.addDescriptorsBuilder().addEntriesBuilder().setKey("tenant").setValue("acme");
		return message;
	}

	private static Code ask(RateLimitServiceGrpc.RateLimitServiceBlockingStub envoy, RateLimitRequest.Builder message) {
		return envoy.withDeadlineAfter(60, TimeUnit.SECONDS).shouldRateLimit(message.build()).getOverallCode();
	}

}
