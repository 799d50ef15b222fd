package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;

/**
 * Limits an application's own gRPC services, by the policies in
 * {@code ratelimit.grpc.methods} and by {@code @RateLimited} on the methods of services
 * that are beans. A call is charged once, before its first message is read; those of
 * methods in {@code ratelimit.grpc.per-message} again for each further message. Add it to
 * the server of the application: it needs no server of ours.
 */
public final class RateLimitServerInterceptor implements ServerInterceptor {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private static final String DOMAIN = "ratelimit";

	/** The full name of the method that was called. */
	private static final Context.Key<String> LIMITED = Context.key("ratelimit-limited");

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
		MethodPolicies.Limit limit = this.policies.find(method);
		if (limit == null) {
			return next.startCall(call, headers);
		}
		PendingListener<Q> listener = new PendingListener<>();
		Context context = Context.current();
		CallTrace trace = this.traces.find(null);
		CompletableFuture<@Nullable Principal> caller = this.tokens.principal(headers);
		CompletableFuture<Decision> pending = caller
			.thenCompose((principal) -> decide(method, limit, headers, Peer.of(call.getAttributes()), principal));
		ServerCallHandler<Q, A> limited = limit.perMessage() ? perMessage(next, trace,
				() -> decide(method, limit, headers, Peer.of(call.getAttributes()), caller.join())) : next;
		boolean atOnce = pending.isDone();
		pending.whenComplete((decision, failure) -> {
			Runnable start = context.wrap(() -> decided(decision, failure, trace, call, headers, limited, listener));
			if (atOnce) {
				start.run();
			}
			else {
				execute(() -> trace.during(start), decision, call);
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

	private CompletableFuture<Decision> decide(String method, MethodPolicies.Limit limit, Metadata headers, Peer peer,
			@Nullable Principal principal) {
		MessageCall call = new MessageCall("/" + method, method, headers, peer, principal, null, this.apiKeyHeader);
		return this.check.decide(new CallCheck.Subject(call, limit.policy(), limit.cost(), Map.of(), null, null));
	}

	/** A handler whose further messages are checked too. */
	private <Q, A> ServerCallHandler<Q, A> perMessage(ServerCallHandler<Q, A> next, CallTrace trace,
			Supplier<CompletableFuture<Decision>> check) {
		return (call, headers) -> {
			LimitedMessages.Call<Q, A> refusable = new LimitedMessages.Call<>(call);
			return new LimitedMessages<>(next.startCall(refusable, headers), refusable,
					() -> check.get().whenComplete((decision, failure) -> {
						if (decision != null) {
							trace.decided(decision);
						}
					}), (decision) -> refusal(decision, trace),
					(task) -> this.executor.execute(() -> trace.during(task)));
		};
	}

	/**
	 * The full name of the method if an interceptor has limited the current call.
	 */
	static @Nullable String limitedMethod() {
		return LIMITED.get();
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
				Context limited = Context.current().withValue(LIMITED, call.getMethodDescriptor().getFullMethodName());
				listener.open(Contexts.interceptCall(limited, call, headers, next));
			}
			catch (RuntimeException | Error ex) {
				logger.error("A gRPC service failed; its call ends", ex);
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
