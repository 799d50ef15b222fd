package dev.ratelimit.grpc;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;

import com.google.rpc.Code;
import io.grpc.Context;
import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.grpc.v1.CheckBatch;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.CheckResults;
import dev.ratelimit.grpc.v1.ConfigurePolicyRequest;
import dev.ratelimit.grpc.v1.GetPolicyRequest;
import dev.ratelimit.grpc.v1.GetUsageRequest;
import dev.ratelimit.grpc.v1.LeaseRequest;
import dev.ratelimit.grpc.v1.LeaseResponse;
import dev.ratelimit.grpc.v1.ListPoliciesRequest;
import dev.ratelimit.grpc.v1.PolicyResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;
import dev.ratelimit.grpc.v1.ReleaseRequest;
import dev.ratelimit.grpc.v1.ResetUsageRequest;
import dev.ratelimit.grpc.v1.SettleRequest;
import dev.ratelimit.grpc.v1.SettleResponse;
import dev.ratelimit.grpc.v1.UsageResponse;
import dev.ratelimit.web.CallTrace;

/**
 * The native service.
 */
final class RateLimiterService extends RateLimiterGrpc.RateLimiterImplBase {

	private final MessageChecks checks;

	private final LeaseMethods leases;

	private final CallTrace.Source traces;

	private final @Nullable AdminCalls admin;

	/**
	 * Creates the service.
	 * @param admin the operations of administrators, {@code null} if there are none
	 */
	RateLimiterService(MessageChecks checks, LeaseMethods leases, CallTrace.Source traces, @Nullable AdminCalls admin) {
		this.checks = checks;
		this.leases = leases;
		this.traces = traces;
		this.admin = admin;
	}

	@Override
	public void check(CheckRequest message, StreamObserver<CheckResponse> observer) {
		CallTrace trace = this.traces.find(null);
		UnaryAnswer<CheckResponse> answer = new UnaryAnswer<>((ServerCallStreamObserver<CheckResponse>) observer);
		CurrentCall call = CurrentCall.get();
		this.checks.decide(message, call, this.checks.principal(call), Context.current().getDeadline())
			.whenComplete((decision, failure) -> {
				if (decision == null) {
					answer.fail((failure != null) ? failure : new IllegalStateException("no decision"));
				}
				else if (answer.isCancelled()) {
					decision.giveBack();
				}
				else {
					trace.decided(decision);
					send(decision, answer);
				}
			});
	}

	@Override
	public StreamObserver<CheckBatch> checkMany(StreamObserver<CheckResults> observer) {
		return CheckStream.open(this.checks, CurrentCall.get(), (ServerCallStreamObserver<CheckResults>) observer);
	}

	@Override
	public void lease(LeaseRequest message, StreamObserver<LeaseResponse> observer) {
		this.leases.lease(message, CurrentCall.get(), this.traces.find(null),
				new UnaryAnswer<>((ServerCallStreamObserver<LeaseResponse>) observer));
	}

	@Override
	public void settle(SettleRequest message, StreamObserver<SettleResponse> observer) {
		this.leases.settle(message.getToken(), message.hasActual() ? message.getActual() : null,
				new UnaryAnswer<>((ServerCallStreamObserver<SettleResponse>) observer));
	}

	@Override
	public void release(ReleaseRequest message, StreamObserver<SettleResponse> observer) {
		this.leases.settle(message.getToken(), 0L,
				new UnaryAnswer<>((ServerCallStreamObserver<SettleResponse>) observer));
	}

	private void send(Decision decision, UnaryAnswer<CheckResponse> answer) {
		try {
			answer.send(this.checks.answer(decision));
		}
		catch (StatusException | RuntimeException ex) {
			answer.fail(ex);
		}
	}

	@Override
	public void getUsage(GetUsageRequest message, StreamObserver<UsageResponse> observer) {
		answer((admin, call) -> admin.usage(message, call), RateLimiterService::usage, observer);
	}

	@Override
	public void resetUsage(ResetUsageRequest message, StreamObserver<UsageResponse> observer) {
		answer((admin, call) -> admin.reset(message, call), RateLimiterService::usage, observer);
	}

	@Override
	public void getPolicy(GetPolicyRequest message, StreamObserver<PolicyResponse> observer) {
		answer((admin, call) -> admin.policy(message, call), RateLimiterService::policy, observer);
	}

	@Override
	public void configurePolicy(ConfigurePolicyRequest message, StreamObserver<PolicyResponse> observer) {
		answer((admin, call) -> admin.configure(message, call), RateLimiterService::policy, observer);
	}

	@Override
	public void listPolicies(ListPoliciesRequest message, StreamObserver<PolicyResponse> observer) {
		if (this.admin == null) {
			super.listPolicies(message, observer);
			return;
		}
		PolicyStream.send(this.admin.policies(CurrentCall.get()), RateLimiterService::policy,
				(ServerCallStreamObserver<PolicyResponse>) observer);
	}

	private <A> void answer(BiFunction<AdminCalls, CurrentCall, CompletableFuture<Map<String, Object>>> operation,
			Function<Map<String, Object>, A> message, StreamObserver<A> observer) {
		UnaryAnswer<A> answer = new UnaryAnswer<>((ServerCallStreamObserver<A>) observer);
		if (this.admin == null) {
			answer
				.fail(Statuses.error(Code.UNIMPLEMENTED, "The application has no operations of administrators", null));
			return;
		}
		operation.apply(this.admin, CurrentCall.get()).whenComplete((document, failure) -> {
			if (document != null) {
				answer.send(message.apply(document));
			}
			else {
				answer.fail(AdminStatuses.of((failure != null) ? failure : new IllegalStateException("no answer")));
			}
		});
	}

	private static UsageResponse usage(Map<String, Object> document) {
		return UsageResponse.newBuilder().setUsage(Structs.of(document)).build();
	}

	private static PolicyResponse policy(Map<String, Object> document) {
		return PolicyResponse.newBuilder().setPolicy(Structs.of(document)).build();
	}

}
