package dev.ratelimit.algorithm;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

/**
 * What the algorithms mean, written down as slowly and plainly as possible: every
 * admitted request is remembered, and every fraction is exact. Shares nothing with the
 * code that it judges.
 */
final class ReferenceModel {

	private final List<Rule> rules;

	private final List<Admitted> admitted = new ArrayList<>();

	ReferenceModel(Algorithm algorithm, List<Quota> quotas) {
		this.rules = quotas.stream().map((quota) -> rule(algorithm, quota)).toList();
	}

	/**
	 * Decides a request that comes no earlier than the one before.
	 */
	boolean attempt(long now, long cost) {
		boolean fits = this.rules.stream().allMatch((rule) -> rule.fits(now, cost));
		if (fits) {
			this.rules.forEach((rule) -> rule.take(now, cost));
			this.admitted.add(new Admitted(now, cost));
		}
		return fits;
	}

	List<Admitted> admitted() {
		return this.admitted;
	}

	private Rule rule(Algorithm algorithm, Quota quota) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> new Bucket(quota);
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
			.filter((event) -> event.time() / micros(quota) == index)
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
	record Admitted(long time, long cost) {
	}

	@FunctionalInterface
	private interface Rule {

		boolean fits(long now, long cost);

		default void take(long now, long cost) {
		}

	}

	/**
	 * Starts full, gains permits/window every microsecond up to the burst. Its content is
	 * counted in 1/window of a permit and therefore always whole.
	 */
	private static final class Bucket implements Rule {

		private final BigInteger gainPerMicro;

		private final BigInteger permit;

		private final BigInteger full;

		private BigInteger content;

		private long time;

		Bucket(Quota quota) {
			this.gainPerMicro = big(quota.permits());
			this.permit = big(micros(quota));
			this.full = this.permit.multiply(big(quota.burst()));
			this.content = this.full;
		}

		@Override
		public boolean fits(long now, long cost) {
			return content(now).compareTo(this.permit.multiply(big(cost))) >= 0;
		}

		@Override
		public void take(long now, long cost) {
			this.content = content(now).subtract(this.permit.multiply(big(cost)));
			this.time = now;
		}

		private BigInteger content(long now) {
			return this.content.add(this.gainPerMicro.multiply(big(now - this.time))).min(this.full);
		}

	}

}
