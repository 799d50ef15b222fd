package dev.ratelimit.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Counters in this process. Their number is bounded: beyond the maximum, the least used
 * counters are dropped, and a dropped counter starts full again. A counter is also
 * dropped when its state no longer matters.
 *
 * <p>
 * A request reads all its cells, decides and, if it takes permits, swaps all cells at
 * once; if a cell has changed in the meantime, the request starts over. A refused request
 * therefore never takes permits, not even for a moment, that another request would miss.
 */
public final class MemoryCounters implements Counters {

	private final LongSupplier micros;

	private final Cache<Counter, Cell> cells;

	private final Consumer<Counter> asked;

	private final Records records;

	public MemoryCounters(long maximum, LongSupplier micros) {
		this(maximum, micros, System::nanoTime);
	}

	public MemoryCounters(long maximum, LongSupplier micros, LongSupplier nanos) {
		this(maximum, micros, nanos, (counter) -> {
		});
	}

	/**
	 * @param maximum largest number of counters
	 * @param micros clock for decisions: microseconds since 1970
	 * @param nanos clock for the expiry of counters: monotonic nanoseconds
	 * @param asked receives every counter that a request takes permits from
	 */
	public MemoryCounters(long maximum, LongSupplier micros, LongSupplier nanos, Consumer<Counter> asked) {
		this.micros = micros;
		this.asked = asked;
		this.records = new Records(maximum, micros, nanos);
		this.cells = Caffeine.newBuilder()
			.maximumSize(maximum)
			.ticker(nanos::getAsLong)
			.executor(Runnable::run)
			.expireAfter(Expiry.<Counter, Cell>accessing((key, cell) -> Duration.ofNanos(cell.lifetime)))
			.build();
	}

	/**
	 * The system clock in microseconds since 1970.
	 */
	public static long systemMicros() {
		Instant now = Instant.now();
		return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.MEMORY;
	}

	@Override
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		answer.accept((attempt != null) ? this.records.take(attempt, permits, (some) -> take(counters, some))
				: take(counters, permits));
	}

	private Grant take(List<Counter> counters, Permits permits) {
		if (permits.most() > 0) {
			counters.forEach(this.asked);
		}
		Cell[] cells = new Cell[counters.size()];
		for (int i = 0; i < cells.length; i++) {
			cells[i] = cell(counters.get(i));
		}
		while (true) {
			Step step = new Step(counters, cells, this.micros.getAsLong());
			long taken = permits.of(step.available());
			step.take(taken);
			if (step.commit()) {
				return new Grant(permits, taken, step.readings(), source());
			}
		}
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		AttemptReading attempt = attempt(grant);
		if (attempt != null) {
			this.records.release(attempt, attempt.part(grant.permits(), permits), () -> returnPermits(grant, permits));
		}
		else {
			returnPermits(grant, permits);
		}
		return CompletableFuture.completedFuture(null);
	}

	private static @Nullable AttemptReading attempt(Grant grant) {
		return grant.readings().isEmpty() ? null : AttemptReading.of(grant.readings().get(0));
	}

	private void returnPermits(Grant grant, long permits) {
		for (Reading reading : grant.readings()) {
			List<Counter> counter = List.of(reading.counter());
			Cell[] cell = { cell(reading.counter()) };
			Step step;
			do {
				step = new Step(counter, cell, this.micros.getAsLong());
				for (Reading.Taken taken : reading.taken(grant.permits(), permits)) {
					step.giveBack(0, taken.permits(), taken.time());
				}
			}
			while (!step.commit());
		}
	}

	@Override
	public CompletionStage<Settlement> settle(Correction correction) {
		AttemptReading attempt = attempt(correction.grant());
		if (attempt != null && !this.records.corrects(attempt, correction)) {
			return CompletableFuture.completedFuture(Settlement.NOTHING);
		}
		List<Reading> readings = correction.grant().readings();
		List<Counter> counters = readings.stream().map(Reading::counter).toList();
		Cell[] cells = counters.stream().map(this::cell).toArray(Cell[]::new);
		while (true) {
			Step step = new Step(counters, cells, this.micros.getAsLong());
			long least = Math.abs(correction.permits());
			for (int i = 0; i < cells.length; i++) {
				long corrected = (correction.surplus() > 0) ? step.charge(i, correction.surplus()) : 0;
				for (Reading.Taken taken : readings.get(i).taken(correction.grant().permits(), correction.refund())) {
					corrected += step.giveBack(i, taken.permits(), taken.time());
				}
				least = Math.min(least, corrected);
			}
			if (step.commit()) {
				return CompletableFuture.completedFuture(correction.outcome(least));
			}
		}
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		counters.forEach((counter) -> cell(counter).clear());
		return CompletableFuture.completedFuture(null);
	}

	/**
	 * Forgets all counters, which start full again, and all recorded requests.
	 */
	public void clear() {
		this.cells.invalidateAll();
		this.records.clear();
	}

	/**
	 * The current number of counters, at most the maximum.
	 */
	public long size() {
		this.cells.cleanUp();
		return this.cells.estimatedSize();
	}

	private Cell cell(Counter counter) {
		long lifetime = counter.spec().lifetimeMicros() * 1_000;
		Cell cell = this.cells.get(counter, (key) -> new Cell(lifetime));
		if (cell.lifetime < lifetime) {
			cell.lifetime = lifetime;
			// Read again: the first read set the expiry from the shorter lifetime.
			return this.cells.get(counter, (key) -> cell);
		}
		return cell;
	}

}
