package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;

/**
 * Limits an application's own gRPC services, by the policies in
 * {@code ratelimit.grpc.methods}. A call is charged once, before its first message is
 * read. Add it to the server of the application: it needs no server of ours.
 */
public final class RateLimitServerInterceptor implements ServerInterceptor {

	private static final String DOMAIN = "ratelimit";

	private final MethodPolicies policies;

	private final CallCheck check;

	private final CallerTokens tokens;

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private final String apiKeyHeader;

	private final Executor executor;

	/**
	 * Creates an interceptor.
	 * @param executor starts calls whose decision was not available at once: handlers may
	 * block, and the thread that brings the decision is Redis's or one of the tokens'
	 */
	RateLimitServerInterceptor(MethodPolicies policies, CallCheck check, CallerTokens tokens, HttpAnswers answers,
			CallTrace.Source traces, String apiKeyHeader, Executor executor) {
		this.policies = policies;
		this.check = check;
		this.tokens = tokens;
		this.answers = answers;
		this.traces = traces;
		this.apiKeyHeader = apiKeyHeader;
		this.executor = executor;
	}

	@Override
	public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers,
			ServerCallHandler<Q, A> next) {
		String method = call.getMethodDescriptor().getFullMethodName();
		String policy = this.policies.find(method);
		if (policy == null) {
			return next.startCall(call, headers);
		}
		PendingListener<Q> listener = new PendingListener<>();
		Context context = Context.current();
		CallTrace trace = this.traces.find(null);
		CompletableFuture<Decision> pending = this.tokens.principal(headers)
			.thenCompose((principal) -> decide(method, policy, headers, Peer.of(call.getAttributes()), principal));
		boolean atOnce = pending.isDone();
		pending.whenComplete((decision, failure) -> {
			Runnable start = context.wrap(() -> decided(decision, failure, trace, call, headers, next, listener));
			if (atOnce) {
				start.run();
			}
			else {
				execute(start, decision, call);
			}
		});
		return listener;
	}

	private void execute(Runnable start, @Nullable Decision decision, ServerCall<?, ?> call) {
		try {
			this.executor.execute(start);
		}
		catch (RejectedExecutionException ex) {
			if (decision != null) {
				decision.giveBack();
			}
			close(call, Statuses.busy());
		}
	}

	private CompletableFuture<Decision> decide(String method, String policy, Metadata headers, Peer peer,
			@Nullable Principal principal) {
		MessageCall call = new MessageCall("/" + method, method, headers, peer, principal, null, this.apiKeyHeader);
		return this.check.decide(new CallCheck.Subject(call, policy, null, Map.of(), null, null));
	}

	private <Q, A> void decided(@Nullable Decision decision, @Nullable Throwable failure, CallTrace trace,
			ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next, PendingListener<Q> listener) {
		if (decision == null) {
			close(call, Statuses.of((failure != null) ? failure : new IllegalStateException("no decision")));
		}
		else if (listener.isCancelled()) {
			decision.giveBack();
		}
		else if (!decision.allowed()) {
			trace.decided(decision);
			close(call, refusal(decision, trace));
		}
		else {
			trace.decided(decision);
			try {
				listener.open(next.startCall(call, headers));
			}
			catch (RuntimeException ex) {
				close(call, Statuses.of(ex));
			}
		}
	}

	private static void close(ServerCall<?, ?> call, Throwable error) {
		Metadata trailers = Status.trailersFromThrowable(error);
		call.close(Status.fromThrowable(error), (trailers != null) ? trailers : new Metadata());
	}

	/** The facts of the problem document, as details of an error. */
	private StatusException refusal(Decision decision, CallTrace trace) {
		Long retryAfter = this.answers.retryAfter(decision);
		if (decision.outcome() == Decision.Outcome.ERROR) {
			return Statuses.unavailable((retryAfter != null) ? retryAfter : 1);
		}
		boolean denied = decision.outcome() == Decision.Outcome.DENIED;
		boolean unknown = denied && decision.reason() == Decision.Reason.IDENTITY;
		boolean banned = decision.reason() == Decision.Reason.BAN;
		Code code = unknown ? Code.UNAUTHENTICATED
				: (denied && !banned) ? Code.PERMISSION_DENIED : Code.RESOURCE_EXHAUSTED;
		HttpAnswer.Problem problem = this.answers.answer(decision, trace.id()).problem();
		Map<String, Object> members = (problem != null) ? problem.members() : Map.of();
		ErrorInfo.Builder info = ErrorInfo.newBuilder()
			.setDomain(DOMAIN)
			.setReason(banned ? "CALLER_BANNED" : reason(code));
		members.forEach((name, value) -> {
			if (value != null && !name.equals("status") && !name.equals("title") && !name.equals("detail")) {
				info.putMetadata(name, value.toString());
			}
		});
		com.google.rpc.Status.Builder status = com.google.rpc.Status.newBuilder()
			.setCode(code.getNumber())
			.setMessage(String.valueOf(members.getOrDefault("detail", "The call was refused")))
			.addDetails(Any.pack(info.build()));
		if (retryAfter != null) {
			status.addDetails(Any.pack(Statuses.retryInfo(retryAfter)));
		}
		return StatusProto.toStatusException(status.build());
	}

	private static String reason(Code code) {
		return switch (code) {
			case RESOURCE_EXHAUSTED -> "QUOTA_EXCEEDED";
			case UNAUTHENTICATED -> "CALLER_UNKNOWN";
			default -> "CALLER_DENIED";
		};
	}

}
