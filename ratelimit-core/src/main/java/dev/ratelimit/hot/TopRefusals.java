package dev.ratelimit.hot;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Statuses;

/**
 * Finds the counters that refuse most. A refusal costs a count in a {@link Sketch} and a
 * look-up among the few counters that are known; the clock is not read.
 *
 * <p>
 * Refusals are counted by the minute. The result covers a whole minute: the current one
 * so far, and the missing share of the one before. A counter is known from its first
 * refusal; when too many are known, the bar is doubled and those below it are forgotten.
 * So the bar is at most twice the mean of the known counters: a counter with more than
 * {@code 2 / MAX_KNOWN} of all refusals of this minute and the one before is certainly
 * known. The error of a count is that of the sketch.
 */
public final class TopRefusals implements DecisionListener {

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
	 * @param nanos a monotonic clock
	 */
	public TopRefusals(LongSupplier nanos) {
		this.nanos = nanos;
		this.began = nanos.getAsLong();
	}

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		Counter counter = refusing(decision);
		if (counter != null) {
			count(counter);
		}
	}

	/** Ignores policies in shadow and the local counters of a failure mode. */
	private static @Nullable Counter refusing(Decision decision) {
		boolean refused = decision.outcome() == Decision.Outcome.REFUSED && decision.source() != Decision.Source.LOCAL;
		return (refused && decision.limits() instanceof Statuses statuses) ? statuses.refusing() : null;
	}

	public void count(Counter counter) {
		int count = this.current.add(counter.hashCode());
		if (count >= this.bar && !this.known.contains(counter)) {
			admit(counter);
		}
	}

	/**
	 * The counters of the whole fleet that refused most in the last minute, most first,
	 * as of the last exchange. The list is immutable.
	 */
	public List<RefusedKey> top() {
		return this.top;
	}

	/**
	 * The counters of this instance that refused most, most first. Must be called more
	 * often than once a minute.
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

	void learn(List<RefusedKey> fleet) {
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
