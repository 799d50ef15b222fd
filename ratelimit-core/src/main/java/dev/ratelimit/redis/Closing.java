package dev.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.netty.util.concurrent.FastThreadLocalThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.Futures;

/**
 * Waits until a connection is closed, at most a second, so that a shutdown of the client
 * does not close it twice. Does not wait on threads of Netty, which close it.
 */
final class Closing {

	private static final Logger logger = LoggerFactory.getLogger(Closing.class);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private Closing() {
	}

	static void await(CompletableFuture<Void> closed) {
		if (!(Thread.currentThread() instanceof FastThreadLocalThread)) {
			try {
				Futures.await(closed, TIMEOUT);
			}
			catch (CompletionException ex) {
				logger.debug("A connection to Redis did not close in order", ex);
			}
		}
	}

}
