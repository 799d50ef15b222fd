package dev.ratelimit.counter;

import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * The reading of a counter whose grant is recorded. Of a replay it shows the counter as
 * it is now; its permits were taken when the record was written.
 */
public final class AttemptReading extends Reading {

	/**
	 * How long after the end of a record attempts may begin to settle, in microseconds: a
	 * replay at the last moment still runs.
	 */
	private static final long SETTLES_AFTER = 600_000_000;

	private final Attempt attempt;

	private final String record;

	private final long granted;

	private final boolean replay;

	private AttemptReading(Reading reading, List<Taken> earlier, long ahead, Attempt attempt, String record,
			long granted, boolean replay) {
		super(reading.counter(), reading.state(), reading.time(), ahead, earlier);
		this.attempt = attempt;
		this.record = record;
		this.granted = granted;
		this.replay = replay;
	}

	/**
	 * The reading of an attempt that took permits.
	 * @param record key of the record
	 */
	public static AttemptReading first(Reading reading, Attempt attempt, String record) {
		return new AttemptReading(reading, reading.earlier(), reading.ahead(), attempt, record, reading.time(), false);
	}

	/**
	 * The reading of an attempt that took nothing because an earlier one did.
	 * @param record key of the record
	 * @param taken what the earlier attempt took
	 */
	public static AttemptReading replay(Reading reading, Attempt attempt, String record, Taken taken) {
		return new AttemptReading(reading, List.of(taken), reading.ahead(), attempt, record, taken.time(), true);
	}

	/**
	 * The recorded reading behind a reading, {@code null} if its grant is not recorded.
	 */
	public static @Nullable AttemptReading of(Reading reading) {
		return (reading.granting() instanceof AttemptReading recorded) ? recorded : null;
	}

	/**
	 * Whether an earlier attempt took the permits: those of all counters that answered
	 * or, if another counter refused the request, of at least one.
	 */
	public static boolean isReplay(Grant grant) {
		Predicate<Reading> replayed = (reading) -> {
			AttemptReading recorded = of(reading);
			return recorded != null && recorded.replay;
		};
		List<Reading> readings = grant.readings();
		return grant.refused() ? readings.stream().anyMatch(replayed)
				: !readings.isEmpty() && readings.stream().allMatch(replayed);
	}

	/**
	 * The last time, in microseconds of the store's clock, at which an attempt of the
	 * same request may begin to settle; 0 if the grant is not recorded.
	 */
	public static long settledUntil(Grant grant) {
		if (grant.source() == Decision.Source.LEASE) {
			// No record, and each of its readings would have to be made.
			return 0;
		}
		long until = 0;
		for (Reading reading : grant.readings()) {
			AttemptReading recorded = of(reading);
			if (recorded != null) {
				until = Math.max(until, recorded.granted + recorded.attempt.ttlMicros() + SETTLES_AFTER);
			}
		}
		return until;
	}

	public Attempt attempt() {
		return this.attempt;
	}

	/** Key of the record. */
	public String record() {
		return this.record;
	}

	/** When the permits were taken: names the grant. */
	public long granted() {
		return this.granted;
	}

	/**
	 * Permits that leave the record if the attempt gives some back and keeps the rest.
	 * @param granted permits of the grant
	 * @param permits how many the attempt gives back
	 * @return 0 if it gives back all
	 */
	public long part(long granted, long permits) {
		return (permits == granted) ? 0 : taken(granted, permits).stream().mapToLong(Taken::permits).sum();
	}

	/**
	 * Names the correction of the grant. All attempts that hold the grant have the same
	 * name.
	 */
	public String correction() {
		return this.attempt.id() + Long.toString(this.granted, Character.MAX_RADIX);
	}

	/** A replay took nothing, so its state has nothing to leave out. */
	@Override
	public Reading without(long permits) {
		return this.replay ? this : new AttemptReading(this, earlier(), ahead() + permits, this.attempt, this.record,
				this.granted, false);
	}

	@Override
	public Reading with(List<Taken> earlier) {
		return new AttemptReading(this, earlier, ahead(), this.attempt, this.record, this.granted, this.replay);
	}

}
