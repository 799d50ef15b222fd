package dev.ratelimit.aop;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Describes a {@link RateLimited} that cannot be used, in place of a stack trace.
 */
final class InvalidAnnotationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidAnnotationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidAnnotationException cause) {
		return new FailureAnalysis(cause.getMessage() + ".",
				"Correct the method or its annotation; docs/getting-started.md#in-a-controller has their rules.",
				cause);
	}

}
