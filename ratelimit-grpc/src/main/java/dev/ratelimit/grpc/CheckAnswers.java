package dev.ratelimit.grpc;

import com.google.protobuf.Duration;
import io.grpc.StatusException;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.QuotaStatus;
import dev.ratelimit.web.HttpAnswers;

/**
 * Turns decisions into answers of the native service.
 */
final class CheckAnswers {

	private final HttpAnswers answers;

	CheckAnswers(HttpAnswers answers) {
		this.answers = answers;
	}

	/**
	 * The answer to a check.
	 * @throws StatusException if the caller is unknown where it must not be, or the
	 * limiter cannot decide and the policy fails closed
	 */
	CheckResponse answer(Decision decision) throws StatusException {
		Long retryAfter = this.answers.retryAfter(decision);
		if (!decision.allowed()) {
			if (decision.reason() == Decision.Reason.IDENTITY) {
				throw Statuses.unauthenticated("Limits are kept per caller, and this call does not say who calls");
			}
			if (decision.outcome() == Decision.Outcome.ERROR) {
				throw Statuses.unavailable((retryAfter != null) ? retryAfter : 1);
			}
		}
		CheckResponse.Builder answer = CheckResponse.newBuilder()
			.setAllowed(decision.allowed())
			.setPolicy(decision.policy())
			.setPolicyVersion(decision.version())
			.setSource(decision.source().text())
			.setReason(decision.reason().text())
			.setDegraded(decision.degraded())
			.setRemaining(-1);
		if (retryAfter != null) {
			answer.setRetryAfter(Duration.newBuilder().setSeconds(retryAfter));
		}
		// What a policy in shadow counts must not be seen.
		LimitStatus decisive = decision.shadow() ? null : decision.decisive();
		if (decisive != null) {
			addCounts(answer, decision, decisive);
		}
		return answer.build();
	}

	private static void addCounts(CheckResponse.Builder answer, Decision decision, LimitStatus decisive) {
		answer.setRemaining(decisive.remaining()).setResetAfter(duration(decisive.resetAfterMicros()));
		if (decisive.refuses()) {
			answer.setRefusedBy(decisive.limit().name());
		}
		for (LimitStatus status : decision.limits()) {
			answer.addQuotas(QuotaStatus.newBuilder()
				.setLimit(status.limit().name())
				.setQuota(status.quota().toString())
				.setRemaining(status.remaining())
				.setResetAfter(duration(status.resetAfterMicros())));
		}
	}

	static Duration duration(long micros) {
		return Duration.newBuilder()
			.setSeconds(micros / 1_000_000)
			.setNanos((int) (micros % 1_000_000) * 1_000)
			.build();
	}

}
