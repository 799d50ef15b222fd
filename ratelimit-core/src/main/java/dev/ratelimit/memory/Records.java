package dev.ratelimit.memory;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Records of admitted requests that may be sent again, and of corrections that were made
 * of them. Their number is bounded. A request whose record was dropped is decided anew.
 *
 * <p>
 * Attempts of one request are decided one after the other; a record is locked meanwhile.
 */
final class Records {

	private final Cache<String, Held> records;

	private final Cache<String, Duration> corrected;

	private final LongSupplier micros;

	/**
	 * @param maximum largest number of records
	 * @param micros clock for decisions
	 * @param nanos clock for the expiry of records
	 */
	Records(long maximum, LongSupplier micros, LongSupplier nanos) {
		this.micros = micros;
		this.records = Caffeine.newBuilder()
			.maximumSize(maximum)
			.ticker(nanos::getAsLong)
			.executor(Runnable::run)
			.expireAfter(Expiry.<String, Held>writing((id, held) -> held.ttl()))
			.build();
		this.corrected = Caffeine.newBuilder()
			.maximumSize(maximum)
			.ticker(nanos::getAsLong)
			.executor(Runnable::run)
			.expireAfter(Expiry.<String, Duration>writing((name, lasts) -> lasts))
			.build();
	}

	/**
	 * Decides an attempt: reads the counters if the request was admitted before,
	 * otherwise takes permits and records them.
	 * @param take takes permits from the counters of the request, or reads them
	 */
	Grant take(Attempt attempt, Permits permits, Function<Permits, Grant> take) {
		Decided decided = new Decided();
		this.records.asMap().compute(attempt.id(), (id, held) -> {
			if (held != null && held.replays(attempt, permits.most(), this.micros.getAsLong())) {
				Reading.Taken taken = new Reading.Taken(held.time(), held.permits());
				decided.grant = recorded(take.apply(Permits.NONE), permits, permits.most(),
						(reading) -> AttemptReading.replay(reading, attempt, id, taken));
				return held.held(1);
			}
			Grant grant = take.apply(permits);
			decided.grant = grant;
			if (grant.permits() == 0) {
				return held;
			}
			decided.grant = recorded(grant, permits, grant.permits(),
					(reading) -> AttemptReading.first(reading, attempt, id));
			return new Held(grant.readings().get(0).time(), grant.permits(), 1,
					Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(attempt.ttlMicros())));
		});
		return decided.grant();
	}

	private static Grant recorded(Grant grant, Permits permits, long granted, Function<Reading, Reading> recorded) {
		return new Grant(permits, granted, grant.readings().stream().map(recorded).toList(), grant.source());
	}

	/**
	 * An attempt gives back permits. They return only if no other attempt holds the
	 * grant.
	 * @param part permits that leave the record, 0 if the attempt gives back all
	 * @param giveBack returns them to the counters
	 */
	void release(AttemptReading attempt, long part, Runnable giveBack) {
		this.records.asMap().computeIfPresent(attempt.record(), (id, held) -> {
			if (held.time() != attempt.granted()) {
				return held;
			}
			if (held.holders() > 1) {
				return (part == 0) ? held.held(-1) : held;
			}
			giveBack.run();
			return (part == 0) ? null : held.without(part);
		});
	}

	/**
	 * Whether a correction is the first one of its request. One that leaves nothing
	 * charged also removes the record.
	 */
	boolean corrects(AttemptReading attempt, Correction correction) {
		long micros = Math.max(1, correction.until() - this.micros.getAsLong());
		Duration lasts = Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
		if (this.corrected.asMap().putIfAbsent(attempt.correction(), lasts) != null) {
			return false;
		}
		if (correction.cancels()) {
			this.records.asMap()
				.computeIfPresent(attempt.record(), (id, held) -> (held.time() == attempt.granted()) ? null : held);
		}
		return true;
	}

	void clear() {
		this.records.invalidateAll();
		this.corrected.invalidateAll();
	}

	/** The grant that a locked record leads to. */
	private static final class Decided {

		private @Nullable Grant grant;

		Grant grant() {
			if (this.grant == null) {
				throw new IllegalStateException("an attempt was not decided");
			}
			return this.grant;
		}

	}

	/**
	 * A recorded grant.
	 *
	 * @param time when it was made, in microseconds
	 * @param permits how many it took
	 * @param holders attempts that were granted by it and have not given it back
	 */
	private record Held(long time, long permits, int holders, Duration ttl) {

		boolean replays(Attempt attempt, long cost, long now) {
			return Math.abs(now - this.time) < attempt.ttlMicros() && this.holders < attempt.mostHolders()
					&& this.permits >= cost;
		}

		Held without(long part) {
			return new Held(this.time, Math.max(0, this.permits - part), this.holders, this.ttl);
		}

		Held held(int more) {
			return new Held(this.time, this.permits, this.holders + more, this.ttl);
		}

	}

}
