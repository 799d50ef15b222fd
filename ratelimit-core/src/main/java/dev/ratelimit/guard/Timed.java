package dev.ratelimit.guard;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * An answer that has a deadline.
 */
abstract class Timed<T> extends CompletableFuture<T> implements Runnable {

	private Deadlines.@Nullable Entry entry;

	void onWheel(Deadlines.Entry entry) {
		this.entry = entry;
	}

	/**
	 * The answer is there: the wheel keeps no hold on it until the deadline.
	 */
	void offWheel() {
		Deadlines.Entry entry = this.entry;
		if (entry != null) {
			entry.call = null;
		}
	}

	/**
	 * The deadline has passed, and nothing was answered when that was seen.
	 */
	@Override
	public abstract void run();

}
