package dev.ratelimit.config;

import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * What an application says when it does not start.
 */
public final class StartupFailures {

	private StartupFailures() {
	}

	/** {@code null} if the failure is not about the configuration of limits. */
	public static FailureAnalysis analyze(Throwable failure) {
		return new InvalidPolicyFailureAnalyzer().analyze(failure);
	}

}
