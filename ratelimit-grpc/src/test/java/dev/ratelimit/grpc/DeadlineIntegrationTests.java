package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Channel;
import io.grpc.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Deadlines of calls that Redis answers too late, over sockets. One failure that counts
 * would open the breaker for an hour; the limiter itself would wait for ten minutes.
 */
@ExtendWith(RedisServers.class)
class DeadlineIntegrationTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final Duration DEADLINE = Duration.ofMillis(600);

	/** Below the 2 s after which a silent connection is closed. */
	private static final Duration REPLIES_AFTER = DEADLINE.multipliedBy(2);

	@Test
	void failureModeAnswersATrustedPeerAndTheBreakerDoesNotCountIt(RedisServer redis) {
		try (ChaosProxy network = ChaosProxy.before(redis);
				GrpcApplication application = start(network, GrpcApplication.TRUSTED)) {
			Channel channel = application.channel();
			assertThat(left(channel, "192.0.2.1")).isEqualTo(100);
			Queue<Decision> decisions = application.bean(Decisions.class).decisions;
			decisions.clear();
			network.delayReplies(REPLIES_AFTER, Duration.ZERO);
			RateLimiterGrpc.newStub(channel)
				.withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
				.check(check("192.0.2.1", 1), new FirstAnswer<>());
			RateLimitServiceGrpc.newStub(channel)
				.withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
				.shouldRateLimit(descriptor("192.0.2.2"), new FirstAnswer<>());
			// The answers are on their way for longer than the 2 ms on a busy machine.
			await().atMost(LONG).until(() -> decisions.size() == 2);
			assertThat(decisions).allSatisfy((decision) -> {
				assertThat(decision.reason()).isEqualTo(Decision.Reason.NOT_AWAITED);
				assertThat(decision.allowed()).isTrue();
				assertThat(decision.degraded()).isTrue();
			});
			network.heal();
			assertThat(left(channel, "192.0.2.1")).isEqualTo(99);
			assertThat(left(channel, "192.0.2.2")).isEqualTo(99);
		}
	}

	@Test
	void deadlineOfAnotherPeerIsItsErrorAndItsPermitsAreGivenBack(RedisServer redis) {
		try (ChaosProxy network = ChaosProxy.before(redis); GrpcApplication application = start(network)) {
			Channel channel = application.channel();
			assertThat(left(channel, "")).isEqualTo(100);
			Queue<Decision> decisions = application.bean(Decisions.class).decisions;
			decisions.clear();
			network.delayReplies(REPLIES_AFTER, Duration.ZERO);
			FirstAnswer<CheckResponse> answer = new FirstAnswer<>();
			RateLimiterGrpc.newStub(channel)
				.withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
				.check(check("", 1), answer);
			assertThat(answer.message()).failsWithin(LONG)
				.withThrowableThat()
				.satisfies((failure) -> assertThat(Status.fromThrowable(failure).getCode())
					.isEqualTo(Status.Code.DEADLINE_EXCEEDED));
			assertThat(decisions).isEmpty();
			network.heal();
			await().atMost(LONG).until(() -> decisions.size() == 1);
			assertThat(decisions.remove().source()).isEqualTo(Decision.Source.REDIS);
			await().atMost(LONG).until(() -> left(channel, "") == 100);
		}
	}

	private static GrpcApplication start(ChaosProxy network, String... more) {
		List<String> properties = new ArrayList<>(
				List.of("ratelimit.backend=redis", "spring.data.redis.host=" + network.host(),
						"spring.data.redis.port=" + network.port(), "ratelimit.redis.timeout=10m",
						"ratelimit.redis.breaker.minimum-calls=1", "ratelimit.redis.breaker.failure-rate=1",
						"ratelimit.redis.breaker.open-for=1h", "ratelimit.policies.orders.enforcement=strict",
						"ratelimit.policies.orders.on-failure=allow", "ratelimit.policies.orders.limits.per-ip.by=ip",
						"ratelimit.policies.orders.limits.per-ip.quota=100/d"));
		properties.addAll(List.of(more));
		if (properties.contains(GrpcApplication.TRUSTED)) {
			properties.add("ratelimit.grpc.envoy.domains.edge.policy=orders");
			properties.add("ratelimit.grpc.envoy.domains.edge.entries.remote_address=ip");
		}
		return GrpcApplication.start(List.of(Decisions.class), properties.toArray(String[]::new));
	}

	/** What Redis says, so the breaker is closed. */
	private static long left(Channel channel, String ip) {
		CheckResponse answer = GrpcApplication.client(channel).check(check(ip, 0));
		assertThat(answer.getSource()).isEqualTo("redis");
		return answer.getRemaining();
	}

	/** Without an IP, the caller is the socket's address. */
	private static CheckRequest check(String ip, long cost) {
		return CheckRequest.newBuilder().setPolicy("orders").putDimensions("ip", ip).setCost(cost).build();
	}

	private static RateLimitRequest descriptor(String ip) {
		RateLimitRequest.Builder message = RateLimitRequest.newBuilder().setDomain("edge");
		message.addDescriptorsBuilder().addEntriesBuilder().setKey("remote_address").setValue(ip);
		return message.build();
	}

	@Configuration(proxyBeanMethods = false)
	static class Decisions {

		private final Queue<Decision> decisions = new ConcurrentLinkedQueue<>();

		@Bean
		DecisionListener recording() {
			return (request, decision, nanos) -> this.decisions.add(decision);
		}

	}

}
