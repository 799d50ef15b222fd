package dev.ratelimit.web;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.web.ApiKeyVerifier.VerifiedKey;

/**
 * Whose an API key is: by the digests in the configuration, else by what the verifier
 * says. Its answers are kept for seconds, by the digest of the key: that a key is known,
 * that it is not, and that the verifier failed, so that a verifier which is slow or down
 * is asked once a second for a key and not once per request.
 */
final class KnownKeys {

	private static final Logger logger = LoggerFactory.getLogger(KnownKeys.class);

	/** A verifier that never answers must not hold its callers for ever. */
	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	/** A key that is revoked is known for so long still, and a new one is not yet. */
	private static final Duration KEPT = Duration.ofSeconds(5);

	private static final Duration FAILURE_KEPT = Duration.ofSeconds(1);

	private static final int MOST = 10_000;

	private static final CompletableFuture<@Nullable VerifiedKey> UNKNOWN = CompletableFuture.completedFuture(null);

	private final Map<String, VerifiedKey> configured;

	private final @Nullable ApiKeyVerifier verifier;

	private final Duration timeout;

	private final AsyncCache<String, Answer> answers;

	private final AtomicBoolean failed = new AtomicBoolean();

	KnownKeys(Map<String, VerifiedKey> configured, @Nullable ApiKeyVerifier verifier) {
		this(configured, verifier, TIMEOUT, System::nanoTime);
	}

	KnownKeys(Map<String, VerifiedKey> configured, @Nullable ApiKeyVerifier verifier, Duration timeout,
			LongSupplier nanos) {
		this.configured = configured;
		this.verifier = verifier;
		this.timeout = timeout;
		this.answers = Caffeine.newBuilder()
			.maximumSize(MOST)
			.expireAfter(new Kept())
			.ticker(nanos::getAsLong)
			.executor(Runnable::run)
			.buildAsync();
	}

	/**
	 * Whose a key is: completes with {@code null} if it is not known, and fails if that
	 * cannot be told.
	 */
	CompletableFuture<@Nullable VerifiedKey> find(String key) {
		if (this.configured.isEmpty() && this.verifier == null) {
			return UNKNOWN;
		}
		String digest = ApiKeyDigest.presented(Dimension.API_KEY, key);
		VerifiedKey known = this.configured.get(digest);
		if (known != null || this.verifier == null) {
			return CompletableFuture.completedFuture(known);
		}
		CompletableFuture<Answer> answer = this.answers.getIfPresent(digest);
		return ((answer != null) ? answer : ask(this.verifier, key, digest)).thenApply(Answer::get);
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
				.thenApply((known) -> new Answer(known, null));
			if (verified.isDone()) {
				return verified.exceptionally(this::failed);
			}
			// The requests that were held up do not go on in the JDK's only timer thread.
			return verified.orTimeout(this.timeout.toNanos(), TimeUnit.NANOSECONDS).exceptionallyAsync(this::failed);
		}
		catch (Throwable ex) {
			// Whatever it is: requests with the same key wait for this answer.
			return CompletableFuture.completedFuture(failed(ex));
		}
	}

	/** Logs the kind of failure only: its message may quote the key. */
	private Answer failed(Throwable failure) {
		Throwable cause = (failure.getCause() != null) ? failure.getCause() : failure;
		if (this.failed.compareAndSet(false, true)) {
			logger.warn(
					"The API key verifier {}; limits that need the tenant or the tier of such a key "
							+ "follow the policy's failure mode, and the others hold",
					(cause instanceof TimeoutException) ? "did not answer within " + this.timeout.toMillis() + " ms"
							: "failed with " + cause.getClass().getName());
		}
		return new Answer(null, new UnverifiedException());
	}

	/**
	 * What the verifier said.
	 */
	private record Answer(@Nullable VerifiedKey key, @Nullable UnverifiedException failure) {

		@Nullable VerifiedKey get() {
			if (this.failure != null) {
				throw this.failure;
			}
			return this.key;
		}

		long keptNanos() {
			return ((this.failure == null) ? KEPT : FAILURE_KEPT).toNanos();
		}

	}

	/** Without a stack trace: callers may be able to bring it about. */
	private static final class UnverifiedException extends RuntimeException {

		UnverifiedException() {
			super("the key could not be verified", null, false, false);
		}

	}

	private static final class Kept implements Expiry<String, Answer> {

		@Override
		public long expireAfterCreate(String digest, Answer answer, long now) {
			return answer.keptNanos();
		}

		@Override
		public long expireAfterUpdate(String digest, Answer answer, long now, long current) {
			return answer.keptNanos();
		}

		@Override
		public long expireAfterRead(String digest, Answer answer, long now, long current) {
			return current;
		}

	}

}
