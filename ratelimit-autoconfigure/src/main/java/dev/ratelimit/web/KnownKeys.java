package dev.ratelimit.web;

import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.web.ApiKeyVerifier.VerifiedKey;

/**
 * Finds the owner of an API key: by the digests in the configuration, else by the
 * verifier. Its answers are cached for seconds by the digest of the key: known, unknown,
 * and failed. A verifier that is slow or down is asked once a second for a key and not
 * once per request.
 */
final class KnownKeys {

	private static final Logger logger = LoggerFactory.getLogger(KnownKeys.class);

	/** Bounds the wait for a verifier that never answers. */
	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	/** Time until a revoked key is unknown and a new one is known. */
	private static final Duration KEPT = Duration.ofSeconds(5);

	private static final Duration FAILURE_KEPT = Duration.ofSeconds(1);

	private static final int MOST = 10_000;

	private static final Pattern DIGEST = Pattern.compile("sha256:[0-9a-f]{64}");

	private static final CompletableFuture<Answer> UNKNOWN = CompletableFuture.completedFuture(new Answer(null, false));

	private final Map<String, VerifiedKey> configured;

	private final @Nullable ApiKeyVerifier verifier;

	private final Duration timeout;

	private final AsyncCache<String, Answer> answers;

	private final FailureLog failures = FailureLog.once(logger,
			"The API key verifier {}; limits that need the tenant or the tier of such a key "
					+ "follow the policy's failure mode, and the others hold");

	KnownKeys(Map<String, VerifiedKey> configured, @Nullable ApiKeyVerifier verifier) {
		this(configured, verifier, TIMEOUT, System::nanoTime);
	}

	KnownKeys(Map<String, VerifiedKey> configured, @Nullable ApiKeyVerifier verifier, Duration timeout,
			LongSupplier nanos) {
		Map<String, VerifiedKey> known = new HashMap<>();
		configured.forEach((digest, key) -> known.put(requireDigest(digest), key));
		this.configured = Map.copyOf(known);
		this.verifier = verifier;
		this.timeout = timeout;
		this.answers = Caffeine.newBuilder()
			.maximumSize(MOST)
			.expireAfter(Expiry.writing((String digest, Answer answer) -> answer.kept()))
			.ticker(nanos::getAsLong)
			.executor(Runnable::run)
			.buildAsync();
	}

	/**
	 * The owner of a key. The answer never fails.
	 */
	CompletableFuture<Answer> find(String key) {
		if (this.configured.isEmpty() && this.verifier == null) {
			return UNKNOWN;
		}
		String digest = ApiKeyDigest.presented(Dimension.API_KEY, key);
		VerifiedKey known = this.configured.get(digest);
		if (known != null || this.verifier == null) {
			return CompletableFuture.completedFuture(new Answer(known, false));
		}
		CompletableFuture<Answer> answer = this.answers.getIfPresent(digest);
		return (answer != null) ? answer : ask(this.verifier, key, digest);
	}

	private CompletableFuture<Answer> ask(ApiKeyVerifier verifier, String key, String digest) {
		CompletableFuture<Answer> answer = new CompletableFuture<>();
		CompletableFuture<Answer> other = this.answers.asMap().putIfAbsent(digest, answer);
		if (other != null) {
			return other;
		}
		verify(verifier, key).thenAccept(answer::complete);
		return answer;
	}

	private CompletableFuture<Answer> verify(ApiKeyVerifier verifier, String key) {
		try {
			CompletableFuture<Answer> verified = verifier.verify(key)
				.toCompletableFuture()
				.thenApply((known) -> new Answer(known, false));
			if (verified.isDone()) {
				return verified.exceptionally(this::failed);
			}
			// Async: waiting requests must not continue on the JDK's only timer thread.
			return verified.orTimeout(this.timeout.toNanos(), TimeUnit.NANOSECONDS).exceptionallyAsync(this::failed);
		}
		catch (Throwable ex) {
			// Errors too: requests with the same key wait for this answer.
			return CompletableFuture.completedFuture(failed(ex));
		}
	}

	/** Logs the kind of failure only: its message may quote the key. */
	private Answer failed(Throwable failure) {
		Throwable cause = (failure.getCause() != null) ? failure.getCause() : failure;
		this.failures
			.failed((cause instanceof TimeoutException) ? "did not answer within " + this.timeout.toMillis() + " ms"
					: "failed with " + cause.getClass().getName());
		return new Answer(null, true);
	}

	/** The message leaves the text out: it may be the key itself. */
	private static String requireDigest(String text) {
		String digest = text.toLowerCase(Locale.ROOT);
		if (!DIGEST.matcher(digest).matches()) {
			throw new IllegalArgumentException("a name in api-keys is not a digest, write \"[sha256:<64 hex digits>]\""
					+ " with the SHA-256 of the key; in YAML the brackets keep the colon");
		}
		return digest;
	}

	/**
	 * The answer about a key.
	 *
	 * @param key owner of the key, {@code null} if it is unknown
	 * @param failed whether the verifier failed
	 */
	record Answer(@Nullable VerifiedKey key, boolean failed) {

		Duration kept() {
			return this.failed ? FAILURE_KEPT : KEPT;
		}

	}

}
