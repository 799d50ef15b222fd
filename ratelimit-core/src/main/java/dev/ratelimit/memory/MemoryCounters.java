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

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Counters in this process. Their number is bounded: when there are too many, those least
 * worth keeping are forgotten, and a forgotten counter starts full. A counter also goes
 * once its state cannot matter any more.
 *
 * <p>
 * A request reads all its cells, decides on what it read and, if it takes anything, swaps
 * all of them at once; when one has changed in the meantime it starts over. A refusal
 * therefore never follows from permits that another request took only to be refused
 * itself.
 */
public final class MemoryCounters implements Counters {

	private final LongSupplier micros;

	private final Cache<String, Cell> cells;

	private final Consumer<Counter> asked;

	/**
	 * Creates an empty set of counters.
	 * @param maximum how many are kept
	 * @param micros the clock that decides: microseconds since 1970
	 */
	public MemoryCounters(long maximum, LongSupplier micros) {
		this(maximum, micros, System::nanoTime);
	}

	/**
	 * Creates an empty set of counters.
	 * @param maximum how many are kept
	 * @param micros the clock that decides: microseconds since 1970
	 * @param nanos the clock by which counters expire: monotonic nanoseconds
	 */
	public MemoryCounters(long maximum, LongSupplier micros, LongSupplier nanos) {
		this(maximum, micros, nanos, (counter) -> {
		});
	}

	/**
	 * Creates an empty set of counters.
	 * @param maximum how many are kept
	 * @param micros the clock that decides: microseconds since 1970
	 * @param nanos the clock by which counters expire: monotonic nanoseconds
	 * @param asked is told of every counter that somebody wants something of
	 */
	public MemoryCounters(long maximum, LongSupplier micros, LongSupplier nanos, Consumer<Counter> asked) {
		this.micros = micros;
		this.asked = asked;
		this.cells = Caffeine.newBuilder()
			.maximumSize(maximum)
			.ticker(nanos::getAsLong)
			.executor(Runnable::run)
			.expireAfter(Expiry.<String, Cell>accessing((key, cell) -> Duration.ofNanos(cell.lifetime)))
			.build();
	}

	/**
	 * The system's clock in microseconds since 1970.
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
	public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		if (permits.most() > 0) {
			counters.forEach(this.asked);
		}
		Cell[] cells = counters.stream().map(this::cell).toArray(Cell[]::new);
		while (true) {
			Step step = new Step(counters, cells, this.micros.getAsLong());
			long taken = permits.of(step.available());
			step.take(taken);
			if (step.commit()) {
				return CompletableFuture.completedFuture(new Grant(permits, taken, step.readings(), source()));
			}
		}
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		for (Reading reading : grant.readings()) {
			List<Counter> counter = List.of(reading.counter());
			Cell[] cell = { cell(reading.counter()) };
			Step step;
			do {
				step = new Step(counter, cell, this.micros.getAsLong());
				step.giveBack(permits, reading.time());
			}
			while (!step.commit());
		}
		return CompletableFuture.completedFuture(null);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		counters.forEach((counter) -> cell(counter).clear());
		return CompletableFuture.completedFuture(null);
	}

	/**
	 * How many counters are kept now, at most the maximum.
	 */
	public long size() {
		this.cells.cleanUp();
		return this.cells.estimatedSize();
	}

	private Cell cell(Counter counter) {
		long lifetime = counter.spec().lifetimeMicros() * 1_000;
		Cell cell = this.cells.get(counter.key(), (key) -> new Cell(lifetime));
		if (cell.lifetime < lifetime) {
			cell.lifetime = lifetime;
			// Read again: the first read has let it expire with the shorter lifetime.
			return this.cells.get(counter.key(), (key) -> cell);
		}
		return cell;
	}

}
