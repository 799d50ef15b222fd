package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.RequestResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The thread that starts a call. The limiter answers on the thread of the test.
 */
class InterceptorThreadsTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final AtomicLong returned = new AtomicLong();

	private final CompletableFuture<Decision> answer = new CompletableFuture<>();

	private final CompletableFuture<Thread> started = new CompletableFuture<>();

	private final Call call = new Call();

	@Test
	void decisionThatComesLaterDoesNotStartTheCallOnItsThread() {
		intercept((task) -> new Thread(task, "executor").start());
		assertThat(this.started).isNotDone();
		this.answer.complete(allowed());
		assertThat(this.started).succeedsWithin(LONG)
			.satisfies((thread) -> assertThat(thread.getName()).isEqualTo("executor"));
	}

	@Test
	void decisionThatIsThereAtOnceStartsTheCallOnTheCallsThread() {
		this.answer.complete(allowed());
		intercept((task) -> new Thread(task, "executor").start());
		assertThat(this.started).isCompletedWithValue(Thread.currentThread());
	}

	@Test
	void callThatNoThreadTakesIsClosedAndItsPermitsAreGivenBack() {
		intercept((task) -> {
			throw new RejectedExecutionException();
		});
		this.answer.complete(allowed());
		assertThat(this.started).isNotDone();
		assertThat(this.call.closed).succeedsWithin(LONG)
			.satisfies((status) -> assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE));
		assertThat(this.returned).hasValue(1);
	}

	private void intercept(Executor executor) {
		CallCheck check = new CallCheck(
				new RequestResolver(IdentityOptions.DEFAULTS, "local", Map.of(), null, List.of(), PolicySet::of),
				(request) -> this.answer);
		HttpAnswers answers = new HttpAnswers(HeaderOptions.DEFAULTS, () -> 0, (most) -> 0, List.of());
		new RateLimitServerInterceptor(new MethodPolicies(Map.of("grpc.health.v1.Health/*", "orders"), List.of()),
				check, CallerTokens.NONE, answers, CallTrace.Source.NONE, "x-api-key", executor)
			.interceptCall(this.call, new Metadata(), (call, headers) -> {
				this.started.complete(Thread.currentThread());
				return new ServerCall.Listener<>() {
				};
			});
	}

	private Decision allowed() {
		return new Decision("orders", 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS, Decision.Source.MEMORY,
				false, null, 1, 1, List.of(), (permits) -> {
					this.returned.addAndGet(permits);
					return CompletableFuture.completedStage(null);
				});
	}

	private static final class Call extends ServerCall<HealthCheckRequest, HealthCheckResponse> {

		private final CompletableFuture<Status> closed = new CompletableFuture<>();

		@Override
		public void request(int messages) {
		}

		@Override
		public void sendHeaders(Metadata headers) {
		}

		@Override
		public void sendMessage(HealthCheckResponse message) {
		}

		@Override
		public void close(Status status, Metadata trailers) {
			this.closed.complete(status);
		}

		@Override
		public boolean isCancelled() {
			return false;
		}

		@Override
		public MethodDescriptor<HealthCheckRequest, HealthCheckResponse> getMethodDescriptor() {
			return HealthGrpc.getCheckMethod();
		}

	}

}
