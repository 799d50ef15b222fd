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
 * Refusals that still hold. A counter that has refused a cost refuses it, and any larger
 * one, until enough permits have come back, and Redis said when that is. Until then the
 * same caller costs Redis nothing, however often it comes.
 *
 * <p>
 * A refusal holds for callers of the same spec: those of another tier, and those of a
 * limit that was changed, may be admitted where others are refused.
 */
final class Refusals {

	/** Something may have changed that nobody told us: a reset, a give-back elsewhere. */
	private static final long LONGEST_NANOS = Duration.ofSeconds(5).toNanos();

	/** A request that several calls decide may be about to give back. */
	private static final long PROVISIONAL_NANOS = Duration.ofMillis(100).toNanos();

	/** One per spec, at most {@value LocalCounter#MOST_SPECS}. */
	private final Cache<Counter, Refusal[]> refusals;

	/** What was asked before this may have been answered before a reset. */
	private volatile long forgottenAt;

	Refusals(long maximum, long now) {
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
		for (Counter counter : counters) {
			Refusal refusal = find(counter);
			if (refusal != null) {
				if (refusal.holds(permits, now)) {
					return new Grant(permits, 0, List.of(refusal.reading(now)), List.of(), Decision.Source.DENIED_CACHE,
							refusal.node());
				}
				if (refusal.isOver(now)) {
					remove(counter, (known) -> known == refusal);
				}
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
	 * @param sent when they were asked
	 * @param provisional whether what they had may be given back in a moment
	 */
	void remember(Grant grant, long sent, boolean provisional) {
		if (sent - this.forgottenAt < 0) {
			return;
		}
		long cost = grant.wanted().least();
		for (Reading reading : grant.readings()) {
			long wait = reading.waitFor(cost);
			if (wait != 0) {
				long nanos = (wait < 0) ? LONGEST_NANOS : Math.min(wait * 1_000, LONGEST_NANOS);
				Refusal refusal = new Refusal(cost, sent + (provisional ? Math.min(nanos, PROVISIONAL_NANOS) : nanos),
						sent, reading, grant.node());
				this.refusals.asMap()
					.merge(reading.counter(), new Refusal[] { refusal }, (known, fresh) -> with(known, refusal));
			}
		}
	}

	/** Those that are over go; of too many, the one that was remembered first. */
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

	/**
	 * Forgets what a counter refused to anybody: it has more permits now.
	 */
	void forget(Counter counter) {
		this.refusals.invalidate(counter);
	}

	/**
	 * Forgets what a counter refused to callers of one spec.
	 */
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
	 * Forgets what counters refused, also what is on its way: they may have been reset.
	 */
	void forget(Predicate<Counter> which, long now) {
		this.forgottenAt = now;
		this.refusals.asMap().keySet().removeIf(which);
	}

	/**
	 * Forgets what counters refused, also what is on its way: they may have been reset.
	 */
	void forget(List<Counter> counters, long now) {
		this.forgottenAt = now;
		counters.forEach(this::forget);
	}

	/**
	 * Forgets everything, also what is on its way.
	 */
	void forgetAll(long now) {
		this.forgottenAt = now;
		this.refusals.invalidateAll();
	}

	/**
	 * How many refusals are remembered, at most the maximum.
	 */
	long size() {
		this.refusals.cleanUp();
		return this.refusals.asMap().values().stream().mapToLong((bySpec) -> bySpec.length).sum();
	}

	private record Refusal(long cost, long until, long sent, Reading reading, @Nullable String node) {

		CounterSpec spec() {
			return this.reading.counter().spec();
		}

		boolean holds(Permits permits, long now) {
			return permits.least() >= this.cost && !isOver(now);
		}

		boolean isOver(long now) {
			return now - this.until >= 0;
		}

		/** One that refuses smaller costs, and for at least as long. */
		boolean beats(Refusal other) {
			return this.cost <= other.cost && this.until - other.until >= 0;
		}

		Reading reading(long now) {
			return new Reading(this.reading.counter(), this.reading.state(),
					this.reading.time() + (now - this.sent) / 1_000, this.reading.ahead());
		}

	}

}
