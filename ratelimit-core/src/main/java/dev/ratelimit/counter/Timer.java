package dev.ratelimit.counter;

import java.time.Duration;

/**
 * Runs tasks later.
 */
@FunctionalInterface
public interface Timer {

	/**
	 * Runs a task once, after a delay and on another thread.
	 */
	void after(Duration delay, Runnable task);

}
