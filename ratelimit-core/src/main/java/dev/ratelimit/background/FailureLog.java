package dev.ratelimit.background;

import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Logs when something begins to fail and when it works again, not each failure. For any
 * number of threads.
 */
public final class FailureLog {

	private final Logger logger;

	private final Level level;

	private final int threshold;

	private final String failing;

	private final String working;

	/** In a row, up to the threshold. */
	private final AtomicInteger failures = new AtomicInteger();

	/**
	 * Warns of the first failure in a row.
	 * @param failing message with the arguments of {@link #failed}
	 * @param working message with the arguments of {@link #worked}
	 */
	public FailureLog(Logger logger, String failing, String working) {
		this(logger, Level.WARN, 1, failing, working);
	}

	/**
	 * Warns of the first failure and no other, for failures that callers may be able to
	 * provoke.
	 */
	public static FailureLog once(Logger logger, String failing) {
		return new FailureLog(logger, failing, "");
	}

	private FailureLog(Logger logger, Level level, int threshold, String failing, String working) {
		this.logger = logger;
		this.level = level;
		this.threshold = threshold;
		this.failing = failing;
		this.working = working;
	}

	/** The same on level debug. */
	public FailureLog quiet() {
		return new FailureLog(this.logger, Level.DEBUG, this.threshold, this.failing, this.working);
	}

	/** The same, but the message needs this many failures in a row. */
	public FailureLog after(int failures) {
		return new FailureLog(this.logger, this.level, failures, this.failing, this.working);
	}

	public void failed(@Nullable Object... arguments) {
		// Read first, so that many failures at once do not write.
		if (this.failures.get() < this.threshold
				&& this.failures.getAndUpdate((count) -> Math.min(count + 1, this.threshold)) == this.threshold - 1) {
			this.logger.atLevel(this.level).log(this.failing, arguments);
		}
	}

	public void worked(Object... arguments) {
		// Read first: it nearly always works, and a plain read keeps the line shared.
		if (this.failures.get() > 0 && this.failures.getAndSet(0) == this.threshold) {
			this.logger.atLevel((this.level == Level.WARN) ? Level.INFO : this.level).log(this.working, arguments);
		}
	}

	/** Whether the last attempt failed. */
	public boolean isFailing() {
		return this.failures.get() > 0;
	}

}
