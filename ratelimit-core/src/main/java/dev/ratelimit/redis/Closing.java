package dev.ratelimit.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.netty.util.concurrent.FastThreadLocalThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits until a connection is closed, so that whoever shuts the client down next does not
 * close it twice. Not for long: closing needs no answer from Redis. And not on threads of
 * Netty, which would wait for themselves.
 */
final class Closing {

	private static final Logger logger = LoggerFactory.getLogger(Closing.class);

	private static final long PATIENCE_MILLIS = 1_000;

	private Closing() {
	}

	static void await(CompletableFuture<Void> closed) {
		if (Thread.currentThread() instanceof FastThreadLocalThread) {
			return;
		}
		try {
			closed.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("A connection to Redis did not close in order", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
