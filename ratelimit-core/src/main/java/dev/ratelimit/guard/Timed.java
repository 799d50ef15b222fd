package dev.ratelimit.guard;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * An answer that has a deadline. It is its own entry on the wheel of {@link Deadlines},
 * so that a deadline costs a call no further object.
 */
abstract class Timed<T> extends CompletableFuture<T> implements Runnable {

	@Nullable Timed<?> next;

	long due;

	/**
	 * The deadline has passed, and nothing was answered when that was seen.
	 */
	@Override
	public abstract void run();

}
