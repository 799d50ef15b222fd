package dev.ratelimit.store;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in the audit trail, from which it can be read on. Several entries may have the
 * same time, but none the same time and sequence.
 *
 * @param time of the entry
 * @param sequence of the entry; 0 is before all entries of this time
 */
public record AuditPosition(Instant time, long sequence) implements Comparable<AuditPosition> {

	private static final Pattern TEXT = Pattern.compile("(.+Z)-(\\d{1,18})");

	/** What no store can count in microseconds would fail there and not here. */
	private static final Instant END = Instant.parse("9999-12-31T23:59:59Z");

	private static final Comparator<AuditPosition> ORDER = Comparator.comparing(AuditPosition::time)
		.thenComparingLong(AuditPosition::sequence);

	/**
	 * Reads what {@link #text} has written, or a time alone.
	 * @throws DateTimeException if it is neither, or a time that no entry can have
	 */
	public static AuditPosition parse(String text) {
		Matcher matcher = TEXT.matcher(text);
		AuditPosition position = matcher.matches()
				? new AuditPosition(Instant.parse(matcher.group(1)), Long.parseLong(matcher.group(2)))
				: new AuditPosition(Instant.parse(text), 0);
		if (position.time().isBefore(Instant.EPOCH) || position.time().isAfter(END)) {
			throw new DateTimeException("a time from 1970 to 9999 was expected");
		}
		return position;
	}

	/**
	 * Such as {@code 2026-11-16T08:00:00.123456Z-42}, which a URL may have in it as it
	 * is.
	 */
	public String text() {
		return this.time + "-" + this.sequence;
	}

	@Override
	public int compareTo(AuditPosition other) {
		return ORDER.compare(this, other);
	}

}
