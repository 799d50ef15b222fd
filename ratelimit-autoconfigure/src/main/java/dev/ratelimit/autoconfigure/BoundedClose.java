package dev.ratelimit.autoconfigure;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes something that may wait for other threads without a limit, as Lettuce does: an
 * application must always be able to stop.
 */
final class BoundedClose {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** More than an orderly end ever takes. */
	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

	private BoundedClose() {
	}

	/**
	 * Closes on another thread, and returns when that is done or takes too long. The
	 * thread then continues in the background.
	 */
	static void run(Runnable close) {
		Thread thread = new Thread(() -> {
			try {
				close.run();
			}
			catch (RuntimeException ex) {
				logger.debug("The connection to Redis could not be closed", ex);
			}
		}, "ratelimit-redis-close");
		thread.setDaemon(true);
		thread.start();
		try {
			thread.join(CLOSE_TIMEOUT.toMillis());
			if (thread.isAlive()) {
				logger.warn("The connection to Redis is not closed after {} s; the application stops without waiting",
						CLOSE_TIMEOUT.toSeconds());
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
