package dev.ratelimit.app.demo;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says what to take away when the demo meets a real issuer.
 */
class DemoConflictFailureAnalyzer extends AbstractFailureAnalyzer<DemoConflictException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, DemoConflictException cause) {
		return new FailureAnalysis(cause.getMessage(),
				"Start without profile 'demo' to verify real tokens (with Maven: -Dspring-boot.run.profiles=default), "
						+ "or remove the other source of tokens to try the demo.",
				cause);
	}

}
