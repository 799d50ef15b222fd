package dev.ratelimit.lease;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

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
 */
final class Refusals {

	/** Something may have changed that nobody told us: a reset, a give-back elsewhere. */
	private static final long LONGEST_NANOS = Duration.ofSeconds(5).toNanos();

	/** A request that several calls decide may be about to give back. */
	private static final long PROVISIONAL_NANOS = Duration.ofMillis(100).toNanos();

	private final Cache<Counter, Refusal> refusals;

	Refusals(long maximum) {
		this.refusals = Caffeine.newBuilder().maximumSize(maximum).executor(Runnable::run).build();
	}

	/**
	 * A refusal of any of these counters, {@code null} if none is known to refuse.
	 */
	@Nullable Grant find(List<Counter> counters, Permits permits, long now) {
		if (permits.least() == 0 || this.refusals.estimatedSize() == 0) {
			return null;
		}
		for (Counter counter : counters) {
			Refusal refusal = this.refusals.getIfPresent(counter);
			if (refusal != null) {
				if (refusal.holds(counter, permits, now)) {
					return new Grant(permits, 0, List.of(refusal.reading(now)), List.of(), Decision.Source.DENIED_CACHE,
							refusal.node());
				}
				if (refusal.isOver(now)) {
					this.refusals.asMap().remove(counter, refusal);
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
		long cost = grant.wanted().least();
		for (Reading reading : grant.readings()) {
			long wait = reading.waitFor(cost);
			if (wait != 0) {
				long nanos = (wait < 0) ? LONGEST_NANOS : Math.min(wait * 1_000, LONGEST_NANOS);
				Refusal refusal = new Refusal(cost, sent + (provisional ? Math.min(nanos, PROVISIONAL_NANOS) : nanos),
						sent, reading, grant.node());
				this.refusals.asMap()
					.merge(reading.counter(), refusal, (known, fresh) -> known.beats(fresh) ? known : fresh);
			}
		}
	}

	void forget(Counter counter) {
		this.refusals.invalidate(counter);
	}

	void forget(Predicate<Counter> which) {
		this.refusals.asMap().keySet().removeIf(which);
	}

	void forgetAll() {
		this.refusals.invalidateAll();
	}

	private record Refusal(long cost, long until, long sent, Reading reading, @Nullable String node) {

		boolean holds(Counter counter, Permits permits, long now) {
			return permits.least() >= this.cost && !isOver(now) && isOf(counter.spec());
		}

		/** A limit that was changed may admit what it refused before. */
		private boolean isOf(CounterSpec spec) {
			return this.reading.counter().spec() == spec;
		}

		boolean isOver(long now) {
			return now - this.until >= 0;
		}

		/** One that refuses smaller costs, and for at least as long. */
		boolean beats(Refusal other) {
			return this.cost <= other.cost && this.until - other.until >= 0 && isOf(other.reading.counter().spec());
		}

		Reading reading(long now) {
			return new Reading(this.reading.counter(), this.reading.state(),
					this.reading.time() + (now - this.sent) / 1_000, this.reading.ahead());
		}

	}

}
