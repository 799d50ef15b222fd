package dev.ratelimit.grpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Request;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.policy.PolicySet;

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

	private final FailureLog untrusted = FailureLog.once(logger,
			"A peer that is not trusted called Envoy's rate-limit service and was turned away. If it is "
					+ "your Envoy, add its network or a name in its certificate to ratelimit.grpc.trusted-peers");

	/**
	 * Creates the service.
	 * @param allowUnknown whether a message of an unknown domain is answered with OK
	 */
	EnvoyService(Map<String, EnvoyDomain> domains, Supplier<PolicySet> policies, Deciding deciding,
			EnvoyAnswers answers, boolean allowUnknown, EnvoyEvent.Meter meter) {
		this.domains = domains;
		this.policies = policies;
		this.deciding = deciding;
		this.answers = answers;
		this.allowUnknown = allowUnknown;
		this.meter = meter;
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
			EnvoyPlan plan = EnvoyPlan.of(message, domain, this.policies.get());
			plan.ignored().forEach(this.meter::count);
			new Run(plan, Context.current().getDeadline(), answer).next();
		}
		catch (StatusException | RuntimeException ex) {
			answer.fail(ex);
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

	/**
	 * A check that costs 0 is a question: is there a permit left? The limiter never
	 * refuses it, Envoy expects a refusal.
	 */
	private static Decision asked(Decision decision) {
		boolean empty = decision.cost() == 0 && decision.allowed() && !decision.shadow()
				&& decision.limits().stream().anyMatch((status) -> status.remaining() == 0);
		if (!empty) {
			return decision;
		}
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

		private final @Nullable Deadline deadline;

		private final UnaryAnswer<RateLimitResponse> answer;

		private final List<Decision> decisions = new ArrayList<>(1);

		Run(EnvoyPlan plan, @Nullable Deadline deadline, UnaryAnswer<RateLimitResponse> answer) {
			this.plan = plan;
			this.deadline = deadline;
			this.answer = answer;
		}

		void next() {
			if (this.decisions.size() == this.plan.checks().size()) {
				end();
				return;
			}
			Request request = this.plan.checks().get(this.decisions.size()).request();
			CompletableFuture<Decision> decision = EnvoyService.this.deciding.decide(request, this.deadline);
			decision.whenComplete((decided, failure) -> {
				if (decided == null) {
					giveBack();
					this.answer.fail((failure != null) ? failure : new IllegalStateException("no decision"));
					return;
				}
				Decision asked = asked(decided);
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
				this.answer.send(EnvoyService.this.answers.answer(this.plan, this.decisions));
			}
			catch (StatusException | RuntimeException ex) {
				this.answer.fail(ex);
			}
		}

	}

}
