package dev.ratelimit.store.sql;

import java.time.Instant;
import java.util.Objects;

import io.r2dbc.spi.Readable;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

/**
 * Reads rows of the tables.
 */
final class Rows {

	/** The columns of a version, in the order in which {@link #version} reads them. */
	static final String VERSION = "v.kind, v.id, v.version, v.revision, v.body, v.actor, v.written_at, v.reason";

	private Rows() {
	}

	static RecordVersion version(Readable row) {
		return new RecordVersion(RecordKey.stored(text(row, 0), text(row, 1)), number(row, 2), number(row, 3),
				row.get(4, String.class), text(row, 5), time(row, 6), text(row, 7));
	}

	/** The column {@code kind} of a record. */
	static String kind(RecordKey key) {
		return key.name().substring(0, key.name().indexOf('/'));
	}

	/** The column {@code id} of a record. */
	static String id(RecordKey key) {
		return key.name().substring(key.name().indexOf('/') + 1);
	}

	static String text(Readable row, int column) {
		return present(row.get(column, String.class));
	}

	static long number(Readable row, int column) {
		return present(row.get(column, Long.class));
	}

	static Instant time(Readable row, int column) {
		return present(row.get(column, Instant.class));
	}

	private static <T> T present(@Nullable T value) {
		return Objects.requireNonNull(value, "a NOT NULL column is null");
	}

}
