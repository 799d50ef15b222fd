package dev.ratelimit.grpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Request;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.CallTrace;

/**
 * Envoy's rate-limit service v3. Only trusted peers may call it, as its messages state
 * who a caller is.
 */
final class EnvoyService extends RateLimitServiceGrpc.RateLimitServiceImplBase {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private final Map<String, EnvoyDomain> domains;

	private final Supplier<PolicySet> policies;

	private final Deciding deciding;

	private final EnvoyAnswers answers;

	private final boolean allowUnknown;

	private final EnvoyEvent.Meter meter;

	private final CallTrace.Source traces;

	private final int ipv6Prefix;

	private final FailureLog untrusted = FailureLog.once(logger,
			"A peer that is not trusted called Envoy's rate-limit service and was turned away. If it is "
					+ "your Envoy, add its network or a name in its certificate to ratelimit.grpc.trusted-peers");

	/**
	 * Creates the service.
	 * @param allowUnknown whether a message of an unknown domain is answered with OK
	 * @param ipv6Prefix bits of an IPv6 address that make a caller
	 */
	EnvoyService(Map<String, EnvoyDomain> domains, Supplier<PolicySet> policies, Deciding deciding,
			EnvoyAnswers answers, boolean allowUnknown, EnvoyEvent.Meter meter, CallTrace.Source traces,
			int ipv6Prefix) {
		this.domains = domains;
		this.policies = policies;
		this.deciding = deciding;
		this.answers = answers;
		this.allowUnknown = allowUnknown;
		this.meter = meter;
		this.traces = traces;
		this.ipv6Prefix = ipv6Prefix;
	}

	@Override
	public void shouldRateLimit(RateLimitRequest message, StreamObserver<RateLimitResponse> observer) {
		UnaryAnswer<RateLimitResponse> answer = new UnaryAnswer<>(
				(ServerCallStreamObserver<RateLimitResponse>) observer);
		try {
			requireTrusted();
			if (message.getDomain().isBlank()) {
				throw Statuses.invalid("domain", "must not be empty");
			}
			if (message.getDescriptorsCount() == 0) {
				throw Statuses.invalid("descriptors", "must not be empty");
			}
			EnvoyDomain domain = this.domains.get(message.getDomain());
			if (domain == null) {
				answer.send(this.answers.unknown(message.getDescriptorsCount(), unknownDomain()));
				return;
			}
			run(message, domain, answer).next();
		}
		catch (StatusException | RuntimeException ex) {
			answer.fail(ex);
		}
	}

	/** An error of ours would make Envoy let the request pass. */
	private Run run(RateLimitRequest message, EnvoyDomain domain, UnaryAnswer<RateLimitResponse> answer) {
		CallTrace trace = this.traces.find(null);
		try {
			EnvoyPlan plan = EnvoyPlan.of(message, domain, this.policies.get(), this.ipv6Prefix);
			plan.ignored().forEach(this.meter::count);
			Deadline deadline = Context.current().getDeadline();
			return new Run(plan, (request) -> this.deciding.decide(request, deadline), trace, answer);
		}
		catch (RuntimeException ex) {
			return new Run(EnvoyPlan.unplanned(message, domain), (request) -> this.deciding.degrade(request, ex), trace,
					answer);
		}
	}

	private void requireTrusted() throws StatusException {
		if (!CurrentCall.get().peer().trusted()) {
			this.meter.count(EnvoyEvent.UNTRUSTED_PEER);
			this.untrusted.failed();
			throw Statuses.permissionDenied("The peer is not in ratelimit.grpc.trusted-peers");
		}
	}

	private Decision unknownDomain() {
		this.meter.count(EnvoyEvent.UNKNOWN_DOMAIN);
		return Decision.without(Request.of("unknown"), 0, this.allowUnknown, Decision.Outcome.ERROR,
				Decision.Reason.UNKNOWN_POLICY);
	}

	/** Whatever the limiter said, the request has already taken place. */
	private static Decision settled(Decision decision) {
		return decision.allowed() ? decision : Decision.without(Request.of(decision.policy()), decision.version(), true,
				Decision.Outcome.BYPASSED, decision.reason());
	}

	/**
	 * A check that costs 0 is a question: is there a permit left? The limiter never
	 * refuses it, Envoy expects a refusal.
	 */
	private Decision asked(Decision decision) {
		boolean empty = decision.cost() == 0 && decision.allowed() && !decision.shadow()
				&& decision.limits().stream().anyMatch((status) -> status.remaining() == 0);
		if (!empty) {
			return decision;
		}
		this.meter.count(EnvoyEvent.NO_PERMIT_LEFT);
		List<LimitStatus> limits = decision.limits()
			.stream()
			.map((status) -> (status.remaining() > 0) ? status
					: new LimitStatus(status.limit(), status.quota(), 0, status.resetAfterMicros(),
							Math.max(1, status.nextAfterMicros()), status.nextAfterMicros()))
			.toList();
		return new Decision(decision.policy(), decision.version(), false, Decision.Outcome.REFUSED, decision.reason(),
				decision.source(), false, decision.mode(), 0, 0, limits, decision.receipt(), decision.node());
	}

	/** Asks for one check after the other, until one is refused or all are admitted. */
	private final class Run {

		private final EnvoyPlan plan;

		private final Function<Request, CompletableFuture<Decision>> limiter;

		private final CallTrace trace;

		private final UnaryAnswer<RateLimitResponse> answer;

		private final List<Decision> decisions = new ArrayList<>(1);

		Run(EnvoyPlan plan, Function<Request, CompletableFuture<Decision>> limiter, CallTrace trace,
				UnaryAnswer<RateLimitResponse> answer) {
			this.plan = plan;
			this.limiter = limiter;
			this.trace = trace;
			this.answer = answer;
		}

		void next() {
			if (this.decisions.size() == this.plan.checks().size()) {
				end();
				return;
			}
			EnvoyPlan.Check check = this.plan.checks().get(this.decisions.size());
			CompletableFuture<Decision> decision = switch (check.kind()) {
				case CHECK -> this.limiter.apply(check.request());
				case SETTLE -> EnvoyService.this.deciding.charge(check.request());
				case GIVE_BACK -> EnvoyService.this.deciding.giveBack(check.request());
			};
			decision.whenComplete((decided, failure) -> {
				if (decided == null) {
					giveBack();
					this.answer.fail((failure != null) ? failure : new IllegalStateException("no decision"));
					return;
				}
				this.trace.decided(decided);
				Decision asked = (check.kind() == EnvoyPlan.Kind.CHECK) ? asked(decided) : settled(decided);
				this.decisions.add(asked);
				if (asked.allowed()) {
					next();
				}
				else {
					giveBack();
					end();
				}
			});
		}

		/** A refused message takes nothing anywhere. */
		private void giveBack() {
			this.decisions.stream().filter(Decision::allowed).forEach(Decision::giveBack);
		}

		private void end() {
			if (this.answer.isCancelled()) {
				giveBack();
				return;
			}
			try {
				this.answer.send(EnvoyService.this.answers.answer(this.plan, this.decisions, this.trace.id()));
			}
			catch (StatusException ex) {
				this.answer.fail(ex);
			}
			catch (RuntimeException ex) {
				giveBack();
				degrade(ex);
			}
		}

		/** The answer failed: the failure mode of the first policy decides. */
		private void degrade(RuntimeException failure) {
			Request request = this.plan.checks().isEmpty() ? null : this.plan.checks().get(0).request();
			if (request == null) {
				this.answer.fail(failure);
				return;
			}
			EnvoyService.this.deciding.degrade(request, failure)
				.thenAccept((decided) -> this.answer.send(EnvoyAnswers.plain(this.plan, decided.allowed())));
		}

	}

}
