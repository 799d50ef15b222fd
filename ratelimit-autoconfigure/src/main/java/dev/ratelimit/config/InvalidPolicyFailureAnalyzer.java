package dev.ratelimit.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Turns a property that cannot be meant into what is wrong and what to do.
 */
class InvalidPolicyFailureAnalyzer extends AbstractFailureAnalyzer<InvalidPolicyException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidPolicyException cause) {
		return new FailureAnalysis(cause.problem(), cause.fix(), cause);
	}

}
