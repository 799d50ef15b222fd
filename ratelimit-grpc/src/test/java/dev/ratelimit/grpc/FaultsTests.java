package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.caller.Signatures;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.LeaseRequest;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.RequestResolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Faults of ours, over a socket: the failure mode of the policy answers for them. The
 * policy here fails closed.
 */
class FaultsTests {

	private static final RateLimitRequest MESSAGE = message();

	/** How often the policies are not available. */
	private final AtomicInteger faults = new AtomicInteger();

	private final AtomicLong returned = new AtomicLong();

	private final RateLimiter limiter = new FailClosed();

	private final RequestResolver resolver = new RequestResolver(IdentityOptions.DEFAULTS, "local", Map.of(), null,
			List.of(), this::policies);

	private final Deciding deciding = new Deciding(new CallCheck(this.resolver, this.limiter), (id) -> null,
			Duration.ofSeconds(30));

	private final HttpAnswers answers = new HttpAnswers(HeaderOptions.DEFAULTS, () -> {
		throw new IllegalStateException("no clock");
	}, (most) -> 0, List.of());

	private static RateLimitRequest message() {
		RateLimitRequest.Builder message = RateLimitRequest.newBuilder().setDomain("edge");
		message.addDescriptorsBuilder().addEntriesBuilder().setKey("tenant").setValue("acme");
		return message.build();
	}

	private PolicySet policies() {
		if (this.faults.getAndDecrement() > 0) {
			throw new IllegalStateException("no policies");
		}
		return PolicySet.of();
	}

	@AfterEach
	void close() {
		this.deciding.close();
	}

	@Test
	void callThatCannotBeResolvedIsAnsweredByTheFailureMode() {
		MessageChecks checks = new MessageChecks(
				new CheckRequests(this.resolver, CallerTokens.NONE, "x-api-key", Set.of()), this.deciding,
				new CheckAnswers(this.answers), (id) -> true);
		this.faults.set(2);
		serve(new RateLimiterService(checks, leases(checks, (decision) -> decision), CallTrace.Source.NONE, null),
				(channel) -> {
					StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class,
							() -> GrpcApplication.client(channel)
								.check(CheckRequest.newBuilder().setPolicy("orders").build()));
					assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
				});
	}

	@Test
	void leaseThatCannotBeSettledGivesThePermitsBack() {
		MessageChecks checks = new MessageChecks(
				new CheckRequests(this.resolver, CallerTokens.NONE, "x-api-key", Set.of()), this.deciding,
				new CheckAnswers(new HttpAnswers(HeaderOptions.DEFAULTS, () -> 0, (most) -> 0, List.of())),
				(id) -> true);
		LeaseMethods leases = leases(checks, (decision) -> {
			throw new IllegalStateException("no receipt");
		});
		serve(new RateLimiterService(checks, leases, CallTrace.Source.NONE, null), (channel) -> {
			StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class,
					() -> GrpcApplication.client(channel)
						.lease(LeaseRequest.newBuilder().setPolicy("orders").setPermits(1).build()));
			assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.INTERNAL);
			assertThat(this.returned).hasValue(1);
		});
	}

	private static LeaseMethods leases(MessageChecks checks, UnaryOperator<Decision> settleable) {
		Epochs epochs = new Epochs(Salt.random(), Duration.ofDays(1), System::currentTimeMillis);
		return new LeaseMethods(checks, new LeaseTokens(new Signatures(epochs, "lease")), new LeaseMethods.Store(
				settleable, (receipt, actual) -> CompletableFuture.completedStage(Settlement.SETTLED)));
	}

	@Test
	void messageThatCannotBePlannedIsAnsweredByTheFailureMode() {
		this.faults.set(1);
		serve(envoy(), (channel) -> {
			RateLimitResponse answer = ask(channel);
			assertThat(answer.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(answer.getStatuses(0).getCode()).isEqualTo(Code.OVER_LIMIT);
		});
	}

	@Test
	void answerThatCannotBeMadeGivesThePermitsBackAndIsTheFailureModes() {
		serve(envoy(), (channel) -> {
			assertThat(ask(channel).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
			assertThat(this.returned).hasValue(1);
		});
	}

	private EnvoyService envoy() {
		EnvoyDomain domain = new EnvoyDomain("orders", null, Map.of("tenant", Dimension.TENANT), false);
		return new EnvoyService(Map.of("edge", domain), this::policies, this.deciding,
				new EnvoyAnswers(this.answers, GrpcProperties.OnDeny.OVER_LIMIT), true, EnvoyEvent.Meter.NONE,
				CallTrace.Source.NONE, 64);
	}

	private static RateLimitResponse ask(ManagedChannel channel) {
		return RateLimitServiceGrpc.newBlockingStub(channel)
			.withDeadlineAfter(60, TimeUnit.SECONDS)
			.shouldRateLimit(MESSAGE);
	}

	private static void serve(BindableService service, Consumer<ManagedChannel> calls) {
		GrpcProperties properties = new GrpcProperties(true, 0, "127.0.0.1", new GrpcProperties.Ssl(""), false,
				List.of(), Map.of(), List.of(), new GrpcProperties.Envoy(GrpcProperties.OnDeny.OVER_LIMIT, Map.of()));
		RateLimitGrpcServer server = new RateLimitGrpcServer(properties, List.of(service), List.of(),
				new TrustedPeers(List.of("127.0.0.0/8")), null);
		server.start();
		ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext().build();
		try {
			calls.accept(channel);
		}
		finally {
			channel.shutdownNow();
			server.stop();
		}
	}

	/** Admits, and fails closed. */
	private final class FailClosed implements RateLimiter {

		@Override
		public CompletionStage<Decision> check(Request request) {
			Limit limit = new Limit("per-tenant", List.of(Dimension.TENANT), List.of(Quota.parse("5/d")));
			LimitStatus status = new LimitStatus(limit, limit.quotas().get(0), 4, 1, 0, 0);
			return CompletableFuture.completedStage(new Decision("orders", 0, true, Decision.Outcome.ALLOWED,
					Decision.Reason.LIMITS, Decision.Source.MEMORY, false, null, 1, 1, List.of(status), (permits) -> {
						FaultsTests.this.returned.addAndGet(permits);
						return CompletableFuture.completedStage(null);
					}));
		}

		@Override
		public CompletionStage<Decision> degrade(Request request, Throwable failure) {
			return CompletableFuture
				.completedStage(Decision.by(FailureMode.DENY, request, 0, Decision.Reason.INTERNAL));
		}

	}

}
