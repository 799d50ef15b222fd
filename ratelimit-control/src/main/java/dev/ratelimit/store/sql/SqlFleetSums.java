package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

import dev.ratelimit.store.FleetSums;

/**
 * Sums of the fleet in the database of the policies: a row for each number, since the
 * databases do not share a way to add up arrays. Those that are over are removed, some at
 * a time, by whoever adds.
 */
final class SqlFleetSums implements FleetSums {

	private static final Logger logger = LoggerFactory.getLogger(SqlFleetSums.class);

	/** How many are removed at once, so that nobody waits for it. */
	static final int MAX_REMOVED = 500;

	private static final Duration REMOVE_EVERY = Duration.ofMinutes(10);

	/** In the order of places, or two that add at once could block each other. */
	private static final String ADD = """
			INSERT INTO ratelimit_sum (name, place, total, added_at)
			SELECT $1::text, k.place, k.number, now()
			FROM unnest($2::bigint[], $3::bigint[]) AS k (place, number) ORDER BY k.place
			ON CONFLICT (name, place) DO UPDATE SET
				total = excluded.total + CASE
					WHEN ratelimit_sum.added_at < now() - INTERVAL '1 day' THEN 0 ELSE ratelimit_sum.total END,
				added_at = excluded.added_at
			RETURNING place, total""";

	/** Looks at the time twice: somebody may have added to a row meanwhile. */
	private static final String REMOVE = """
			DELETE FROM ratelimit_sum
			WHERE added_at < now() - INTERVAL '1 day' AND (name, place) IN (
				SELECT s.name, s.place FROM ratelimit_sum s
				WHERE s.added_at < now() - INTERVAL '1 day' LIMIT $1)""";

	private final Schema schema;

	private final LongSupplier nanoTime;

	private final AtomicLong removeAt;

	SqlFleetSums(Schema schema, LongSupplier nanoTime) {
		this.schema = schema;
		this.nanoTime = nanoTime;
		this.removeAt = new AtomicLong(nanoTime.getAsLong());
	}

	@Override
	public CompletionStage<List<Long>> add(String name, List<Long> numbers) {
		Long[] places = LongStream.rangeClosed(1, numbers.size()).boxed().toArray(Long[]::new);
		return this.schema
			.run((session) -> session
				.rows(ADD, (row) -> Map.entry(Rows.number(row, 0), Rows.number(row, 1)), name, places,
						numbers.toArray(Long[]::new))
				.collectSortedList(Map.Entry.comparingByKey())
				.map((sums) -> sums.stream().map(Map.Entry::getValue).toList()))
			.doOnSuccess((sums) -> removeOld())
			.toFuture();
	}

	/** Nobody waits for it, and what fails is left to the next time. */
	private void removeOld() {
		long now = this.nanoTime.getAsLong();
		long due = this.removeAt.get();
		if (now - due >= 0 && this.removeAt.compareAndSet(due, now + REMOVE_EVERY.toNanos())) {
			this.schema.run((session) -> session.run(REMOVE, (long) MAX_REMOVED)).onErrorResume((error) -> {
				logger.debug("Sums that are over were not removed", error);
				return Mono.empty();
			}).subscribe();
		}
	}

}
