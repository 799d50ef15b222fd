package dev.ratelimit.store.sql;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Sums of the fleet: one row per number that is not 0, since PostgreSQL and CockroachDB
 * have no common way to add arrays. An instance that adds also removes some expired rows.
 */
final class SqlFleetSums {

	/**
	 * Ordered by place: two instances that add at once must not deadlock. Most numbers
	 * are 0 and change no row, except that a row is kept from expiring once an hour. The
	 * last part reads the rows as they were before, so those that were added to are left
	 * out of it.
	 */
	private static final String ADD = """
			WITH added AS (
				INSERT INTO ratelimit_sum (name, place, total, added_at)
				SELECT $1::text, k.place, k.number, now()
				FROM unnest($2::bigint[], $3::bigint[]) AS k (place, number)
				WHERE k.number <> 0 OR EXISTS (
					SELECT 1 FROM ratelimit_sum s WHERE s.name = $1::text AND s.place = k.place
						AND s.added_at < now() - INTERVAL '1 hour')
				ORDER BY k.place
				ON CONFLICT (name, place) DO UPDATE SET
					total = excluded.total + CASE
						WHEN ratelimit_sum.added_at < now() - INTERVAL '1 day' THEN 0 ELSE ratelimit_sum.total END,
					added_at = excluded.added_at
				RETURNING place, total)
			SELECT place, total FROM added
			UNION ALL
			SELECT s.place, s.total FROM ratelimit_sum s
			WHERE s.name = $1::text AND s.place NOT IN (SELECT place FROM added)""";

	/** Checks the time twice: another instance may have added to a row meanwhile. */
	private static final String REMOVE = """
			DELETE FROM ratelimit_sum
			WHERE added_at < now() - INTERVAL '1 day' AND (name, place) IN (
				SELECT s.name, s.place FROM ratelimit_sum s
				WHERE s.added_at < now() - INTERVAL '1 day' LIMIT $1)""";

	private final Schema schema;

	private final ExpiredRows expired;

	SqlFleetSums(Schema schema, LongSupplier nanoTime) {
		this.schema = schema;
		this.expired = new ExpiredRows(schema, REMOVE, nanoTime);
	}

	CompletionStage<List<Long>> add(String name, List<Long> numbers) {
		Long[] places = LongStream.rangeClosed(1, numbers.size()).boxed().toArray(Long[]::new);
		return this.schema
			.run((session) -> session
				.rows(ADD, (row) -> Map.entry(Rows.number(row, 0), Rows.number(row, 1)), name, places,
						numbers.toArray(Long[]::new))
				.collectMap(Map.Entry::getKey, Map.Entry::getValue)
				.map((sums) -> Stream.of(places).map((place) -> sums.getOrDefault(place, 0L)).toList()))
			.doOnSuccess((sums) -> this.expired.remove())
			.toFuture();
	}

}
