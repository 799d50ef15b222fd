package dev.ratelimit.algorithm;

import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

/**
 * What the algorithms mean, written down as slowly and plainly as possible: every
 * admitted request is remembered, and every fraction is exact. Shares nothing with the
 * code that it judges.
 *
 * <p>
 * Several callers may have different quotas on the counter. A bucket of a window is then
 * the time until it is full again, which every permit lengthens by what it takes its own
 * quota to bring one back; a count of a window is of those who are counted in it; a log
 * has everybody.
 */
final class ReferenceModel {

	private final List<List<Rule>> rules;

	private final List<Set<Duration>> windows;

	private final Map<Duration, Bucket> buckets = new HashMap<>();

	private final List<Admitted> admitted = new ArrayList<>();

	ReferenceModel(Algorithm algorithm, List<Quota> quotas) {
		this(List.of(quotas), algorithm);
	}

	/**
	 * A model of a counter that callers share.
	 * @param callers the quotas of each
	 */
	ReferenceModel(List<List<Quota>> callers, Algorithm algorithm) {
		for (Quota quota : callers.stream().flatMap(List::stream).toList()) {
			this.buckets.computeIfAbsent(quota.window(), (window) -> new Bucket()).add(quota);
		}
		this.rules = callers.stream()
			.map((quotas) -> quotas.stream().map((quota) -> rule(algorithm, quota)).toList())
			.toList();
		this.windows = callers.stream()
			.map((quotas) -> quotas.stream().map(Quota::window).collect(Collectors.toSet()))
			.toList();
	}

	/**
	 * Decides a request that comes no earlier than the one before.
	 */
	boolean attempt(long now, long cost) {
		return attempt(0, now, cost);
	}

	/**
	 * Decides a request of one of the callers.
	 */
	boolean attempt(int caller, long now, long cost) {
		boolean fits = this.rules.get(caller).stream().allMatch((rule) -> rule.fits(now, cost));
		if (fits) {
			this.rules.get(caller).forEach((rule) -> rule.take(now, cost));
			this.admitted.add(new Admitted(now, cost, this.windows.get(caller)));
		}
		return fits;
	}

	List<Admitted> admitted() {
		return this.admitted;
	}

	private Rule rule(Algorithm algorithm, Quota quota) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> Objects.requireNonNull(this.buckets.get(quota.window())).rule(quota);
			case SLIDING_WINDOW_COUNTER -> (now, cost) -> {
				// prev * (window - elapsed) / window + current + cost <= permits
				BigInteger window = big(micros(quota));
				long index = now / micros(quota);
				BigInteger left = big((index + 1) * micros(quota) - now);
				BigInteger previous = big(countInWindow(index - 1, quota));
				BigInteger current = big(countInWindow(index, quota));
				BigInteger weighted = previous.multiply(left).add(current.add(big(cost)).multiply(window));
				return weighted.compareTo(big(quota.permits()).multiply(window)) <= 0;
			};
			case SLIDING_WINDOW_LOG -> (now, cost) -> countAfter(now - micros(quota)) + cost <= quota.permits();
			case FIXED_WINDOW -> (now, cost) -> countInWindow(now / micros(quota), quota) + cost <= quota.permits();
		};
	}

	private long countAfter(long time) {
		return this.admitted.stream().filter((event) -> event.time() > time).mapToLong(Admitted::cost).sum();
	}

	private long countInWindow(long index, Quota quota) {
		return this.admitted.stream()
			.filter((event) -> event.windows().contains(quota.window()) && event.time() / micros(quota) == index)
			.mapToLong(Admitted::cost)
			.sum();
	}

	static long micros(Quota quota) {
		return quota.window().toSeconds() * 1_000_000;
	}

	static BigInteger big(long number) {
		return BigInteger.valueOf(number);
	}

	/**
	 * A request that was let through.
	 */
	record Admitted(long time, long cost, Set<Duration> windows) {
	}

	@FunctionalInterface
	private interface Rule {

		boolean fits(long now, long cost);

		default void take(long now, long cost) {
		}

	}

	/**
	 * When the bucket of a window is full again, in parts of a microsecond that all its
	 * quotas divide, so that every number is whole.
	 */
	private static final class Bucket {

		private BigInteger parts = BigInteger.ONE;

		private BigInteger full = BigInteger.ZERO;

		void add(Quota quota) {
			this.parts = this.parts.multiply(big(quota.permits()));
		}

		Rule rule(Quota quota) {
			return new Rule() {

				@Override
				public boolean fits(long now, long cost) {
					return after(now, cost).subtract(at(now)).compareTo(time(quota.burst())) <= 0;
				}

				@Override
				public void take(long now, long cost) {
					Bucket.this.full = after(now, cost);
				}

				private BigInteger after(long now, long cost) {
					return Bucket.this.full.max(at(now)).add(time(cost));
				}

				private BigInteger at(long now) {
					return Bucket.this.parts.multiply(big(now));
				}

				private BigInteger time(long permits) {
					return Bucket.this.parts.multiply(big(micros(quota)))
						.multiply(big(permits))
						.divide(big(quota.permits()));
				}

			};
		}

	}

}
