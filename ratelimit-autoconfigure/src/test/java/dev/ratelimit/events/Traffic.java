package dev.ratelimit.events;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

/**
 * Some thousand decisions a second for several tenants, until it is stopped.
 */
final class Traffic {

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final AtomicLong decided = new AtomicLong();

	private volatile boolean stopped;

	private Thread thread;

	void start(RateLimiter limiter) {
		this.thread = new Thread(() -> {
			while (!this.stopped) {
				for (int i = 0; i < 3; i++) {
					Request request = Request.of("orders")
						.with(Dimension.TENANT, "tenant-" + i)
						.with(Dimension.USER, "ann");
					limiter.check(request).toCompletableFuture().join();
					this.decided.incrementAndGet();
				}
				LockSupport.parkNanos(PAUSE_NANOS);
			}
		}, "traffic");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	/**
	 * Ends it. What was decided by then does not change any more.
	 */
	void stop() {
		this.stopped = true;
		try {
			this.thread.join(10_000);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	long decided() {
		return this.decided.get();
	}

}
