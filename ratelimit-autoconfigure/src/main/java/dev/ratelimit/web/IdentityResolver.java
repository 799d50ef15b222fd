package dev.ratelimit.web;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * Finds out who calls, from verified facts only: who was authenticated, and API keys that
 * somebody knows. No header ever names a user, a tenant or a tier.
 */
final class IdentityResolver {

	private static final Logger logger = LoggerFactory.getLogger(IdentityResolver.class);

	private static final boolean SECURITY_PRESENT = ClassUtils
		.isPresent("org.springframework.security.core.Authentication", IdentityResolver.class.getClassLoader());

	/** A verifier that never answers must not hold its callers for ever. */
	private static final Duration VERIFIER_TIMEOUT = Duration.ofSeconds(1);

	private final IdentityOptions options;

	private final @Nullable ApiKeyVerifier verifier;

	private final Duration verifierTimeout;

	private final AtomicBoolean verifierFailed = new AtomicBoolean();

	IdentityResolver(IdentityOptions options, @Nullable ApiKeyVerifier verifier) {
		this(options, verifier, VERIFIER_TIMEOUT);
	}

	IdentityResolver(IdentityOptions options, @Nullable ApiKeyVerifier verifier, Duration verifierTimeout) {
		this.options = options;
		this.verifier = verifier;
		this.verifierTimeout = verifierTimeout;
	}

	CompletableFuture<Identity> resolve(WebCall call) {
		Identity caller = principal(call.principal()).withIp(ClientIp.of(call, this.options.trustedHops()));
		String key = apiKey(call);
		if (key == null) {
			return CompletableFuture.completedFuture(caller);
		}
		ApiKeyVerifier.VerifiedKey configured = configured(key);
		if (configured != null || this.verifier == null) {
			return CompletableFuture.completedFuture(caller.withKey(key, configured));
		}
		return verify(this.verifier, key).thenApply((verified) -> caller.withKey(key, verified));
	}

	private Identity principal(@Nullable Principal principal) {
		if (principal == null) {
			return Identity.NOBODY;
		}
		return SECURITY_PRESENT ? SecurityPrincipals.identity(principal, this.options)
				: Identity.ofUser(principal.getName());
	}

	private @Nullable String apiKey(WebCall call) {
		if (this.options.apiKeyHeader().isEmpty()) {
			return null;
		}
		List<String> values = call.headers(this.options.apiKeyHeader());
		return values.isEmpty() ? null : Identity.text(values.get(0));
	}

	private ApiKeyVerifier.@Nullable VerifiedKey configured(String key) {
		return this.options.apiKeys().isEmpty() ? null : this.options.apiKeys().get(digest(key));
	}

	private CompletableFuture<ApiKeyVerifier.@Nullable VerifiedKey> verify(ApiKeyVerifier verifier, String key) {
		try {
			CompletableFuture<ApiKeyVerifier.@Nullable VerifiedKey> verified = verifier.verify(key)
				.toCompletableFuture();
			if (verified.isDone()) {
				return verified.exceptionally(this::unverified);
			}
			// On a copy, as the future is the verifier's; and the requests that were held
			// up do not go on in the JDK's only timer thread.
			return verified.copy()
				.orTimeout(this.verifierTimeout.toNanos(), TimeUnit.NANOSECONDS)
				.exceptionallyAsync(this::unverified);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.completedFuture(unverified(ex));
		}
	}

	/** Logs the kind of failure only: its message may quote the key. */
	private ApiKeyVerifier.@Nullable VerifiedKey unverified(Throwable failure) {
		if (this.verifierFailed.compareAndSet(false, true)) {
			Throwable cause = (failure.getCause() != null) ? failure.getCause() : failure;
			logger.warn("The API key verifier failed with {}; keys it cannot verify count as unverified",
					cause.getClass().getName());
		}
		return null;
	}

	private static String digest(String key) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
			return IdentityOptions.DIGEST_PREFIX + HexFormat.of().formatHex(digest);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every JDK has SHA-256", ex);
		}
	}

}
