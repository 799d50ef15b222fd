package dev.ratelimit.counter;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.ratelimit.Settlement;
import dev.ratelimit.Work;

/**
 * Corrects what a grant took, after the true cost is known. Each counter of the grant is
 * corrected once, however often a store is asked: a store that can lose answers keeps a
 * marker with the id.
 *
 * @param id names the correction
 * @param grant what was taken
 * @param permits permits to charge in addition; negative for permits to give back
 * @param received when the grant was received, in nanoseconds of the JVM's clock
 * @param until last time, in microseconds of the store's clock, at which another instance
 * may begin the same correction; 0 if no other instance knows of it
 */
public record Correction(String id, Grant grant, long permits, long received, long until) {

	/** Kind of key: no algorithm has this letter. */
	private static final String MARKER = "3s:";

	/** Permits to give back. */
	public long refund() {
		return Math.max(0, -this.permits);
	}

	/** Permits to charge in addition. */
	public long surplus() {
		return Math.max(0, this.permits);
	}

	/**
	 * The same correction of other counters.
	 */
	public Correction with(List<Reading> readings) {
		return new Correction(this.id, this.grant.with(readings), this.permits, this.received, this.until);
	}

	/**
	 * Whether another instance may make the same correction.
	 */
	public boolean isShared() {
		return this.until > 0;
	}

	/**
	 * The corrections that one call each can make: of counters with the same hash tag,
	 * and of one log, because a give-back to a log fills a call.
	 */
	public List<Correction> calls() {
		Map<String, List<Reading>> calls = new LinkedHashMap<>();
		for (Reading reading : this.grant.readings()) {
			Counter counter = reading.counter();
			calls.computeIfAbsent(tag(counter.key()) + name(counter), (call) -> new ArrayList<>(2)).add(reading);
		}
		return calls.values().stream().map(this::with).toList();
	}

	/**
	 * The key that marks the correction as made. It has the slot of the counters.
	 * Attempts of one request share it.
	 */
	public String marker() {
		Reading reading = this.grant.readings().get(0);
		Counter counter = reading.counter();
		AttemptReading recorded = AttemptReading.of(reading);
		String key = counter.key();
		return key.substring(0, key.indexOf(':') + 1) + MARKER + tag(key)
				+ ((recorded != null) ? recorded.correction() : this.id) + name(counter);
	}

	/**
	 * Whether nothing remains charged: the request did not take place.
	 */
	public boolean cancels() {
		return this.permits < 0 && -this.permits == this.grant.permits();
	}

	/** Tells apart counters of one hash tag that need a call each. */
	private static String name(Counter counter) {
		return Work.isGivenBackAlone(counter.spec().algorithm())
				? counter.key().substring(counter.key().indexOf('}') + 1) : "";
	}

	static String tag(String key) {
		int start = key.indexOf('{');
		int end = key.indexOf('}', start);
		return (start >= 0 && end > start + 1) ? key.substring(start, end + 1) : '{' + key + '}';
	}

	/**
	 * The estimated time of the store, in microseconds.
	 * @param nanos now, on the JVM's clock
	 */
	public long storeTime(long nanos) {
		return this.grant.readings().get(0).time() + (nanos - this.received) / 1_000;
	}

	/**
	 * The outcome.
	 * @param corrected by how many permits the counter was corrected that was corrected
	 * least
	 */
	public Settlement outcome(long corrected) {
		if (this.permits < 0) {
			return (corrected < refund()) ? Settlement.EXPIRED : Settlement.REFUNDED;
		}
		return (corrected < this.permits) ? Settlement.CAPPED : Settlement.SETTLED;
	}

}
