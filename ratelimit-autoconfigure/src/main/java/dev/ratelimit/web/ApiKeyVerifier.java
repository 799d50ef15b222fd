package dev.ratelimit.web;

import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Knows which API keys are real. Without one, only keys whose digest is configured are.
 */
@FunctionalInterface
public interface ApiKeyVerifier {

	/**
	 * Verifies a key without blocking; completes with {@code null} if it is not known.
	 */
	CompletionStage<@Nullable VerifiedKey> verify(String key);

	/**
	 * Whose key it is.
	 *
	 * @param tenant its tenant, {@code null} if it has none
	 * @param tier its plan, {@code null} for the default
	 */
	record VerifiedKey(@Nullable String tenant, @Nullable String tier) {
	}

}
