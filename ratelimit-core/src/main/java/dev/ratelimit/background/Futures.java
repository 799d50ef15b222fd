package dev.ratelimit.background;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waits for stages and unwraps their failures.
 */
public final class Futures {

	private Futures() {
	}

	/** Removes the exceptions that stages wrap a failure in. */
	public static Throwable cause(Throwable failure) {
		Throwable cause = failure;
		while ((cause instanceof CompletionException || cause instanceof ExecutionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	/**
	 * Waits for a stage; only for threads that may block.
	 * @throws CompletionException if it fails, takes longer or the thread is interrupted
	 */
	public static <T> T await(CompletionStage<T> stage, Duration atMost) {
		try {
			return stage.toCompletableFuture().get(atMost.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw new CompletionException(cause(ex));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new CompletionException(ex);
		}
	}

}
