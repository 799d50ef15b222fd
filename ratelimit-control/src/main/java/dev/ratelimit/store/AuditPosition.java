package dev.ratelimit.store;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A position in the audit trail, from which a reader can continue. Entries may share a
 * time, but not time and sequence.
 *
 * @param sequence 0 is before all entries of this time
 */
public record AuditPosition(Instant time, long sequence) implements Comparable<AuditPosition> {

	private static final Pattern TEXT = Pattern.compile("(.+Z)-(\\d{1,18})");

	/** The last position: stores cannot express later times in microseconds. */
	public static final AuditPosition END = new AuditPosition(Instant.parse("9999-12-31T23:59:59Z"), Long.MAX_VALUE);

	private static final Comparator<AuditPosition> ORDER = Comparator.comparing(AuditPosition::time)
		.thenComparingLong(AuditPosition::sequence);

	/**
	 * Reads a {@link #text}, or a time alone.
	 * @throws DateTimeException if it is neither
	 */
	public static AuditPosition parse(String text) {
		Matcher matcher = TEXT.matcher(text);
		AuditPosition position = matcher.matches()
				? new AuditPosition(Instant.parse(matcher.group(1)), Long.parseLong(matcher.group(2)))
				: new AuditPosition(Instant.parse(text), 0);
		if (position.time().isBefore(Instant.EPOCH) || position.time().isAfter(END.time())) {
			throw new DateTimeException("a time from 1970 to 9999 was expected");
		}
		return position;
	}

	/**
	 * Such as {@code 2026-11-16T08:00:00.123456Z-42}; needs no escaping in a URL.
	 */
	public String text() {
		return this.time + "-" + this.sequence;
	}

	@Override
	public int compareTo(AuditPosition other) {
		return ORDER.compare(this, other);
	}

}
