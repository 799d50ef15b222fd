package dev.ratelimit.config;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Describes an invalid property: what is wrong and what to do.
 */
class InvalidPolicyFailureAnalyzer extends AbstractFailureAnalyzer<InvalidPolicyException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidPolicyException cause) {
		return new FailureAnalysis(cause.problem(), cause.fix(), cause);
	}

}
