package dev.ratelimit.grpc;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit;
import io.grpc.StatusException;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.json.Json;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;

/**
 * Turns decisions into answers to Envoy: a status per descriptor, and the headers and the
 * problem document of HTTP.
 */
final class EnvoyAnswers {

	/** Finds the decisive one of some statuses. */
	private static final Decision DECIDED = Decision.without(Request.of("any"), 0, true, Decision.Outcome.ALLOWED,
			Decision.Reason.LIMITS);

	private static final int REFUSED = 429;

	private static final int UNAUTHORIZED = 401;

	private final HttpAnswers answers;

	private final GrpcProperties.OnDeny onDeny;

	EnvoyAnswers(HttpAnswers answers, GrpcProperties.OnDeny onDeny) {
		this.answers = answers;
		this.onDeny = onDeny;
	}

	/**
	 * The answer to a message.
	 * @param decisions the decisions of the plan's first checks; only the last one may be
	 * a refusal
	 * @param traceId for problem documents, {@code null} if there is no trace
	 * @throws StatusException if the limiter cannot decide, the policy fails closed, and
	 * Envoy's own failure mode shall decide
	 */
	RateLimitResponse answer(EnvoyPlan plan, List<Decision> decisions, @Nullable String traceId)
			throws StatusException {
		Decision last = decisions.isEmpty() ? null : decisions.get(decisions.size() - 1);
		boolean refused = last != null && !last.allowed();
		if (last != null && refused && last.outcome() == Decision.Outcome.ERROR
				&& this.onDeny == GrpcProperties.OnDeny.UNAVAILABLE) {
			Long retryAfter = this.answers.retryAfter(last);
			throw Statuses.unavailable((retryAfter != null) ? retryAfter : 1);
		}
		RateLimitResponse.Builder answer = RateLimitResponse.newBuilder()
			.setOverallCode(refused ? Code.OVER_LIMIT : Code.OK);
		List<Decision> shown = refused ? decisions.stream().map(EnvoyAnswers::returned).toList() : decisions;
		for (EnvoyPlan.Selection descriptor : plan.descriptors()) {
			answer.addStatuses(status(plan, descriptor, shown));
		}
		addHttp(answer, this.answers.answer(decisions, traceId));
		return answer.build();
	}

	/**
	 * The answer to a message for which no other can be made.
	 */
	static RateLimitResponse plain(EnvoyPlan plan, boolean allowed) {
		Code code = allowed ? Code.OK : Code.OVER_LIMIT;
		RateLimitResponse.Builder answer = RateLimitResponse.newBuilder().setOverallCode(code);
		plan.descriptors().forEach((descriptor) -> answer.addStatuses(DescriptorStatus.newBuilder().setCode(code)));
		return answer.build();
	}

	/** An admitted check of a refused message: its permits are given back. */
	private static Decision returned(Decision decision) {
		return !decision.allowed() ? decision
				: decision.with(decision.limits()
					.stream()
					.map((status) -> new LimitStatus(status.limit(), status.quota(),
							Math.min(status.quota().burst(), status.remaining() + decision.granted()),
							status.resetAfterMicros(), status.retryAfterMicros(), status.nextAfterMicros()))
					.toList());
	}

	/**
	 * The answer to a message of an unknown domain: all of its descriptors are alike.
	 * @throws StatusException as in {@link #answer}
	 */
	RateLimitResponse unknown(int descriptors, Decision decision) throws StatusException {
		RateLimitResponse.Builder answer = answer(EnvoyPlan.NOTHING, List.of(decision), null).toBuilder();
		for (int i = 0; i < descriptors; i++) {
			answer.addStatuses(DescriptorStatus.newBuilder().setCode(answer.getOverallCode()));
		}
		return answer.build();
	}

	private static DescriptorStatus status(EnvoyPlan plan, EnvoyPlan.Selection descriptor, List<Decision> decisions) {
		DescriptorStatus.Builder status = DescriptorStatus.newBuilder().setCode(Code.OK);
		List<LimitStatus> own = new ArrayList<>();
		for (int i = 0; i < decisions.size() && i < plan.checks().size(); i++) {
			EnvoyPlan.Check check = plan.checks().get(i);
			Decision decision = decisions.get(i);
			if (check.group() == descriptor.group() && refusesCaller(decision)) {
				status.setCode(Code.OVER_LIMIT);
			}
			for (EnvoyPlan.Selected limit : descriptor.limits()) {
				if (limit.isOf(check)) {
					if (!decision.allowed() && decision.refusedBy() == null) {
						status.setCode(Code.OVER_LIMIT);
					}
					if (!decision.shadow()) {
						decision.limits()
							.stream()
							.filter((known) -> known.limit().name().equals(limit.limit()))
							.forEach(own::add);
					}
				}
			}
		}
		return own.isEmpty() ? status.build() : counted(status, own);
	}

	/** Whether a decision refuses its caller, whatever limits a descriptor selects. */
	private static boolean refusesCaller(Decision decision) {
		return !decision.allowed() && switch (decision.reason()) {
			case LIST, BAN, UNKNOWN_POLICY, INTERNAL -> true;
			default -> false;
		};
	}

	private static DescriptorStatus counted(DescriptorStatus.Builder status, List<LimitStatus> own) {
		LimitStatus decisive = Objects.requireNonNull(DECIDED.with(Decision.Reason.LIMITS, own).decisive());
		if (decisive.refuses()) {
			status.setCode(Code.OVER_LIMIT);
		}
		Quota quota = decisive.quota();
		return status
			.setCurrentLimit(RateLimit.newBuilder()
				.setName(decisive.limit().name() + " " + quota)
				.setRequestsPerUnit((int) quota.permits())
				.setUnit(unit(quota)))
			.setLimitRemaining((int) decisive.remaining())
			.setDurationUntilReset(CheckAnswers.duration(decisive.resetAfterMicros()))
			.build();
	}

	private static Unit unit(Quota quota) {
		return switch (quota.windowText()) {
			case "s" -> Unit.SECOND;
			case "m" -> Unit.MINUTE;
			case "h" -> Unit.HOUR;
			case "d" -> Unit.DAY;
			case "7d" -> Unit.WEEK;
			default -> Unit.UNKNOWN;
		};
	}

	/** Envoy answers every refusal with its own status, so that others are left out. */
	private static void addHttp(RateLimitResponse.Builder answer, HttpAnswer http) {
		if (http.status() != UNAUTHORIZED) {
			http.headers().forEach((name, value) -> answer.addResponseHeadersToAdd(header(name, value)));
		}
		HttpAnswer.Problem problem = http.problem();
		if (problem != null) {
			Map<String, Object> members = new LinkedHashMap<>(problem.members());
			if (http.status() != REFUSED) {
				members.remove("status");
			}
			answer.addResponseHeadersToAdd(header("content-type", HttpAnswer.PROBLEM_JSON))
				.setRawBody(ByteString.copyFromUtf8(Json.write(members)));
		}
	}

	private static HeaderValue header(String name, String value) {
		return HeaderValue.newBuilder().setKey(name).setValue(value).build();
	}

}
