package dev.ratelimit.benchmarks.load;

import java.util.SplittableRandom;
import java.util.function.ToIntFunction;

import org.jspecify.annotations.Nullable;

/**
 * A schedule: all requests of a run in the order in which they are due. It depends on
 * nothing that happens during the run.
 */
public interface Arrivals {

	/** The next request, or {@code null} if there are no more. */
	@Nullable Arrival next();

	/**
	 * Requests of cost 1 at random moments, as independent callers make them.
	 * @param rate mean number per second
	 * @param nanos none is due after this time
	 * @param keys draws whose the next request is
	 */
	static Arrivals random(double rate, long nanos, SplittableRandom random, ToIntFunction<SplittableRandom> keys) {
		return new Arrivals() {

			private double due;

			@Override
			public @Nullable Arrival next() {
				// Gaps are exponentially distributed.
				this.due += -Math.log(1 - random.nextDouble()) * 1e9 / rate;
				return (this.due < nanos) ? new Arrival((long) this.due, keys.applyAsInt(random), 1) : null;
			}

		};
	}

	/** Two schedules at once. */
	static Arrivals merged(Arrivals one, Arrivals other) {
		return new Arrivals() {

			private @Nullable Arrival first = one.next();

			private @Nullable Arrival second = other.next();

			@Override
			public @Nullable Arrival next() {
				Arrival left = this.first;
				Arrival right = this.second;
				if (left == null || (right != null && right.dueNanos() < left.dueNanos())) {
					this.second = (right != null) ? other.next() : null;
					return right;
				}
				this.first = one.next();
				return left;
			}

		};
	}

	/** The same requests of other callers: all keys are larger by this much. */
	default Arrivals shifted(int keys) {
		return () -> {
			Arrival next = next();
			return (next != null) ? new Arrival(next.dueNanos(), next.key() + keys, next.cost()) : null;
		};
	}

}
