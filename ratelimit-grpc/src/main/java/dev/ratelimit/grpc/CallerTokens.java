package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.concurrent.CompletableFuture;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusException;
import org.jspecify.annotations.Nullable;

/**
 * The principal of a call, from the token in its metadata.
 */
@FunctionalInterface
interface CallerTokens {

	/** For an application that verifies no tokens: every caller is anonymous. */
	CallerTokens NONE = (token) -> CompletableFuture.completedFuture(null);

	Metadata.Key<String> AUTHORIZATION = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

	String BEARER = "bearer ";

	/**
	 * Verifies a token. Fails with a {@link StatusException} for a token that is invalid
	 * or cannot be verified.
	 */
	CompletableFuture<@Nullable Principal> verify(String token);

	/**
	 * The principal of a call, {@code null} for one without a token.
	 */
	default CompletableFuture<@Nullable Principal> principal(Metadata headers) {
		String value = headers.get(AUTHORIZATION);
		if (value == null || !value.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
			return CompletableFuture.completedFuture(null);
		}
		return verify(value.substring(BEARER.length()).strip());
	}

	static StatusException invalid() {
		return Status.UNAUTHENTICATED.withDescription("authorization: the token is invalid").asException();
	}

	static StatusException notVerified() {
		return Status.UNAVAILABLE.withDescription("authorization: tokens cannot be verified at the moment")
			.asException();
	}

}
