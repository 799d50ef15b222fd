package dev.ratelimit.autoconfigure;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends what waits for threads of others without a limit of its own, as Lettuce does: an
 * application must be able to stop whatever state they are in.
 */
final class BoundedClose {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** More than an orderly end ever takes. */
	private static final Duration PATIENCE = Duration.ofSeconds(3);

	private BoundedClose() {
	}

	/**
	 * Runs it on a thread of its own and returns when it is done, or when it takes too
	 * long; then it goes on by itself.
	 */
	static void run(Runnable close) {
		Thread thread = new Thread(() -> {
			try {
				close.run();
			}
			catch (RuntimeException ex) {
				logger.debug("The connection to Redis did not close in order", ex);
			}
		}, "ratelimit-redis-close");
		thread.setDaemon(true);
		thread.start();
		try {
			thread.join(PATIENCE.toMillis());
			if (thread.isAlive()) {
				logger.warn("The connection to Redis is not closed after {} s; the application stops without waiting",
						PATIENCE.toSeconds());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
