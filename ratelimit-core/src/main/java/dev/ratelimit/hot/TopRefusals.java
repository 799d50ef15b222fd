package dev.ratelimit.hot;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterName;
import dev.ratelimit.counter.RefusedKey;

/**
 * Which counters refuse most. A refusal costs a place in a {@link Sketch} and a look at
 * the few counters that are known, and no look at the clock.
 *
 * <p>
 * One minute is counted after the other. What is told is this minute so far, and as much
 * of the one before as is missing to a whole one. A counter is known from its first
 * refusal on; when too many are, the bar is doubled and those below it are forgotten. So
 * the bar is at most twice the mean of those that were known: a counter that had more
 * than {@code 2 / MAX_KNOWN} of all refusals in this minute and the one before is known
 * for certain. How far a count can be off is said of the sketch.
 */
public final class TopRefusals implements Consumer<Counter> {

	static final int MAX_KNOWN = 512;

	private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

	private final LongSupplier nanos;

	private final Set<Counter> known = ConcurrentHashMap.newKeySet();

	private volatile Sketch current = new Sketch();

	private Sketch before = new Sketch();

	private long began;

	private volatile int bar = 1;

	private volatile List<RefusedKey> top = List.of();

	/**
	 * Creates an empty one.
	 * @param nanos a monotonic clock
	 */
	public TopRefusals(LongSupplier nanos) {
		this.nanos = nanos;
		this.began = nanos.getAsLong();
	}

	/**
	 * Counts a refusal.
	 * @param counter the whole one, if a part of it refused
	 */
	@Override
	public void accept(Counter counter) {
		int count = this.current.add(counter.hashCode());
		if (count >= this.bar && !this.known.contains(counter)) {
			admit(counter);
		}
	}

	/**
	 * The counters of the whole fleet that refused most in the last minute, most first,
	 * as last heard. Never changes once handed out.
	 */
	public List<RefusedKey> top() {
		return this.top;
	}

	/**
	 * What refused most here, most first. To be called more often than once a minute.
	 */
	synchronized List<RefusedKey> seen(int most) {
		long elapsed = this.nanos.getAsLong() - this.began;
		if (elapsed >= MINUTE_NANOS) {
			turn(elapsed);
			elapsed = 0;
		}
		double missing = 1 - (double) elapsed / MINUTE_NANOS;
		return this.known.stream()
			.map((counter) -> new RefusedKey(CounterName.of(counter), count(counter, missing)))
			.filter((key) -> key.refusals() > 0)
			.sorted(Comparator.comparingLong(RefusedKey::refusals).reversed())
			.limit(most)
			.toList();
	}

	void told(List<RefusedKey> fleet) {
		this.top = List.copyOf(fleet);
	}

	private long count(Counter counter, double missing) {
		int hash = counter.hashCode();
		return this.current.count(hash) + Math.round(this.before.count(hash) * missing);
	}

	/** Rare: the bar goes up whenever too many reach it. */
	private synchronized void admit(Counter counter) {
		long count = count(counter, 1);
		while (this.known.size() >= MAX_KNOWN && count >= this.bar) {
			int bar = 2 * this.bar;
			this.bar = bar;
			this.known.removeIf((known) -> count(known, 1) < bar);
		}
		if (count >= this.bar) {
			this.known.add(counter);
		}
	}

	private void turn(long elapsed) {
		Sketch spare = this.before;
		spare.clear();
		this.before = this.current;
		this.current = spare;
		if (elapsed >= 2 * MINUTE_NANOS) {
			this.before.clear();
		}
		this.began = this.nanos.getAsLong();
		this.bar = 1;
		this.known.removeIf((known) -> this.before.count(known.hashCode()) == 0);
	}

}
