package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Removes expired rows of a table, at most every 10 minutes per instance, in the
 * background: after a failure, such as a missing right, the next turn tries again.
 */
final class ExpiredRows {

	private static final Logger logger = LoggerFactory.getLogger(ExpiredRows.class);

	/** Few enough that other statements do not wait. */
	static final int MAX_REMOVED = 500;

	private static final Duration REMOVE_EVERY = Duration.ofMinutes(10);

	private final Schema schema;

	private final String sql;

	private final LongSupplier nanoTime;

	private final AtomicLong removeAt;

	/**
	 * Creates a removal that is due at once.
	 * @param sql removes rows; its parameter is their largest number
	 */
	ExpiredRows(Schema schema, String sql, LongSupplier nanoTime) {
		this.schema = schema;
		this.sql = sql;
		this.nanoTime = nanoTime;
		this.removeAt = new AtomicLong(nanoTime.getAsLong());
	}

	/** Returns at once. */
	void remove() {
		long now = this.nanoTime.getAsLong();
		long due = this.removeAt.get();
		if (now - due >= 0 && this.removeAt.compareAndSet(due, now + REMOVE_EVERY.toNanos())) {
			this.schema.run((session) -> session.run(this.sql, (long) MAX_REMOVED)).onErrorResume((error) -> {
				logger.debug("Expired rows were not removed", error);
				return Mono.empty();
			}).subscribe();
		}
	}

}
