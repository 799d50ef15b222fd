package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;

/**
 * Remembers refusals that still hold. A counter that has refused a cost refuses this cost
 * and any larger one until enough permits have come back, at a time that follows from the
 * answer of Redis. Until then requests of the same caller cost Redis nothing.
 *
 * <p>
 * A refusal holds for callers of the same spec: callers of another tier or of a changed
 * limit may be admitted where others are refused.
 */
final class DeniedCache {

	/** Other instances may have reset the counter or given permits back. */
	private static final long LONGEST_NANOS = Duration.ofSeconds(5).toNanos();

	/** A request that needs several calls may give permits back in a moment. */
	private static final long PROVISIONAL_NANOS = Duration.ofMillis(100).toNanos();

	/** One per spec, at most {@value LocalCounter#MOST_SPECS}. */
	private final Cache<Counter, Refusal[]> refusals;

	/** Answers to calls sent before this time may be older than a reset. */
	private volatile long forgottenAt;

	DeniedCache(long maximum, long now) {
		this.forgottenAt = now;
		this.refusals = Caffeine.newBuilder()
			.maximumWeight(maximum)
			.weigher((Counter counter, Refusal[] bySpec) -> bySpec.length)
			.executor(Runnable::run)
			.build();
	}

	/**
	 * A refusal of any of these counters, {@code null} if none is known to refuse.
	 */
	@Nullable Grant find(List<Counter> counters, Permits permits, long now) {
		if (permits.least() == 0 || this.refusals.estimatedSize() == 0) {
			return null;
		}
		for (int i = 0; i < counters.size(); i++) {
			Counter counter = counters.get(i);
			Refusal refusal = find(counter);
			if (refusal != null && refusal.isOver(now)) {
				remove(counter, (known) -> known == refusal);
			}
			else if (refusal != null && permits.least() >= refusal.cost()) {
				return new Grant(permits, 0, List.of(refusal.reading(now)), List.of(), Decision.Source.DENIED_CACHE,
						refusal.node());
			}
		}
		return null;
	}

	private @Nullable Refusal find(Counter counter) {
		Refusal[] bySpec = this.refusals.getIfPresent(counter);
		if (bySpec != null) {
			for (Refusal refusal : bySpec) {
				if (refusal.spec() == counter.spec()) {
					return refusal;
				}
			}
		}
		return null;
	}

	/**
	 * Remembers which counters have refused.
	 * @param sent when the call was sent
	 * @param provisional whether the permits of other calls may be given back in a moment
	 */
	void remember(Grant grant, long sent, boolean provisional) {
		if (sent - this.forgottenAt < 0) {
			return;
		}
		long cost = grant.wanted().least();
		for (Reading reading : grant.readings()) {
			// Where costs are settled, permits may come back at any moment.
			long wait = reading.counter().spec().settles() ? 0 : reading.waitFor(cost);
			if (wait != 0) {
				long nanos = (wait < 0) ? LONGEST_NANOS : Math.min(wait * 1_000, LONGEST_NANOS);
				Refusal refusal = new Refusal(cost, sent + (provisional ? Math.min(nanos, PROVISIONAL_NANOS) : nanos),
						sent, reading, grant.node());
				this.refusals.asMap()
					.merge(reading.counter(), new Refusal[] { refusal }, (known, fresh) -> with(known, refusal));
			}
		}
	}

	/** Drops expired refusals, and the oldest if there are too many. */
	private static Refusal[] with(Refusal[] known, Refusal fresh) {
		List<Refusal> kept = new ArrayList<>(known.length + 1);
		Refusal own = fresh;
		for (Refusal refusal : known) {
			if (refusal.spec() == fresh.spec()) {
				own = refusal.beats(fresh) ? refusal : fresh;
			}
			else if (!refusal.isOver(fresh.sent())) {
				kept.add(refusal);
			}
		}
		kept.add(own);
		return kept.subList(Math.max(0, kept.size() - LocalCounter.MOST_SPECS), kept.size()).toArray(Refusal[]::new);
	}

	/** It has more permits now. */
	void forget(Counter counter) {
		this.refusals.invalidate(counter);
	}

	/** Callers of this spec can be admitted again. */
	void forget(Counter counter, CounterSpec spec) {
		if (this.refusals.getIfPresent(counter) != null) {
			remove(counter, (refusal) -> refusal.spec() == spec);
		}
	}

	private void remove(Counter counter, Predicate<Refusal> which) {
		this.refusals.asMap().computeIfPresent(counter, (key, known) -> {
			Refusal[] kept = Stream.of(known).filter(which.negate()).toArray(Refusal[]::new);
			return (kept.length > 0) ? kept : null;
		});
	}

	/**
	 * Forgets the refusals of counters, also those of calls under way: the counters may
	 * have been reset.
	 */
	void forget(Predicate<Counter> which, long now) {
		this.forgottenAt = now;
		this.refusals.asMap().keySet().removeIf(which);
	}

	long size() {
		this.refusals.cleanUp();
		return this.refusals.asMap().values().stream().mapToLong((bySpec) -> bySpec.length).sum();
	}

	private record Refusal(long cost, long until, long sent, Reading reading, @Nullable String node) {

		CounterSpec spec() {
			return this.reading.counter().spec();
		}

		boolean isOver(long now) {
			return now - this.until >= 0;
		}

		/** Whether this one refuses smaller costs, for at least as long. */
		boolean beats(Refusal other) {
			return this.cost <= other.cost && this.until - other.until >= 0;
		}

		Reading reading(long now) {
			return new Reading(this.reading.counter(), this.reading.state(),
					this.reading.time() + (now - this.sent) / 1_000, this.reading.ahead());
		}

	}

}
