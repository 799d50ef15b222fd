package dev.ratelimit.store.sql;

import java.time.Instant;
import java.util.Locale;
import java.util.Objects;

import io.r2dbc.spi.Readable;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

/**
 * Reads what the tables hold.
 */
final class Rows {

	/** The columns of a version, in the order in which {@link #version} reads them. */
	static final String VERSION = "v.kind, v.id, v.version, v.revision, v.body, v.actor, v.written_at, v.reason";

	/** The columns of an audit record; its number comes after them. */
	static final String AUDIT = "happened_at, action, outcome, actor, target, value_before, value_after, reason";

	private Rows() {
	}

	static RecordVersion version(Readable row) {
		return new RecordVersion(key(row, 0, 1), number(row, 2), number(row, 3), row.get(4, String.class), text(row, 5),
				time(row, 6), text(row, 7));
	}

	static AuditRecord audit(Readable row) {
		return new AuditRecord(time(row, 0), number(row, 8), text(row, 1), text(row, 2), text(row, 3), text(row, 4),
				text(row, 5), text(row, 6), text(row, 7));
	}

	static RecordKey key(Readable row, int kind, int id) {
		return new RecordKey(RecordKey.Kind.valueOf(text(row, kind).toUpperCase(Locale.ROOT)), text(row, id));
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
		return Objects.requireNonNull(value, "a column is null that never is");
	}

}
