package dev.ratelimit.counter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.algorithm.Formula;
import dev.ratelimit.algorithm.Pace;

/**
 * How the counters of one limit count, or one part of each of them. Made once per limit
 * of a policy, shared by all its counters.
 */
public final class CounterSpec {

	private final Algorithm algorithm;

	private final Formula formula;

	private final Limit limit;

	private final Pace[] paces;

	private final byte[] numbers;

	private final long lifetimeMicros;

	private final long largestCost;

	private final Enforcement enforcement;

	private final @Nullable CounterSpec whole;

	/** Made when somebody first asks, as few limits have any. */
	private volatile CounterSpec[] parts = {};

	public CounterSpec(Algorithm algorithm, Limit limit) {
		this(algorithm, limit, Enforcement.STRICT);
	}

	/**
	 * Works out how a limit counts.
	 * @param enforcement where permits are taken, unless the limit says it itself
	 */
	public CounterSpec(Algorithm algorithm, Limit limit, Enforcement enforcement) {
		this(algorithm, limit, enforcement, null);
	}

	private CounterSpec(Algorithm algorithm, Limit limit, Enforcement enforcement, @Nullable CounterSpec whole) {
		this.whole = whole;
		this.enforcement = (limit.enforcement() != null) ? limit.enforcement() : enforcement;
		this.algorithm = algorithm;
		this.formula = Formula.of(algorithm);
		this.limit = limit;
		this.paces = Pace.of(limit.quotas());
		this.numbers = numbers(this.paces);
		this.lifetimeMicros = Arrays.stream(this.paces).mapToLong(Pace::lifetimeMicros).max().orElseThrow();
		this.largestCost = limit.quotas().stream().mapToLong(Quota::burst).min().orElseThrow();
	}

	public Algorithm algorithm() {
		return this.algorithm;
	}

	public Limit limit() {
		return this.limit;
	}

	/**
	 * How one part of each counter counts: under its share of every quota. The same
	 * object for the same number of parts.
	 * @param part which one, from 0
	 * @param parts how many there are
	 */
	public CounterSpec part(int part, int parts) {
		CounterSpec[] known = this.parts;
		return ((known.length == parts) ? known : divide(parts))[part];
	}

	private synchronized CounterSpec[] divide(int parts) {
		if (this.parts.length != parts) {
			CounterSpec[] divided = new CounterSpec[parts];
			for (int part = 0; part < parts; part++) {
				divided[part] = new CounterSpec(this.algorithm, this.limit.part(part, parts), this.enforcement, this);
			}
			this.parts = divided;
		}
		return this.parts;
	}

	/**
	 * How the counter counts that this is a part of, {@code null} if it is a whole one.
	 */
	public @Nullable CounterSpec whole() {
		return this.whole;
	}

	/**
	 * The largest cost that can ever be admitted.
	 */
	public long largestCost() {
		return this.largestCost;
	}

	/**
	 * Where permits are taken.
	 */
	public Enforcement enforcement() {
		return this.enforcement;
	}

	/**
	 * The formula of the algorithm, for those who keep states.
	 */
	public Formula formula() {
		return this.formula;
	}

	/**
	 * One per quota, in their order; not to be changed.
	 */
	public Pace[] paces() {
		return this.paces;
	}

	/**
	 * What a script has to know, as little-endian doubles; not to be changed.
	 */
	public byte[] numbers() {
		return this.numbers;
	}

	private static byte[] numbers(Pace[] paces) {
		ByteBuffer buffer = ByteBuffer.allocate(paces.length * Pace.NUMBERS * Double.BYTES)
			.order(ByteOrder.LITTLE_ENDIAN);
		for (Pace pace : paces) {
			for (double number : pace.numbers()) {
				buffer.putDouble(number);
			}
		}
		return buffer.array();
	}

	/**
	 * How long a state can matter after its last change.
	 */
	public long lifetimeMicros() {
		return this.lifetimeMicros;
	}

	/**
	 * Adds what a state means for each quota.
	 * @param state as stored, settled or not
	 * @param now when it was read, on the store's clock
	 * @param least permits that a caller would have been content with
	 * @param granted permits that it got
	 * @param statuses where to add
	 */
	void describe(long[] state, long now, long least, long granted, List<LimitStatus> statuses) {
		long[] settled = this.formula.settle(state, this.paces, now);
		List<Quota> quotas = this.limit.quotas();
		for (int quota = 0; quota < this.paces.length; quota++) {
			long remaining = this.formula.remaining(settled, this.paces, quota, now);
			long burst = quotas.get(quota).burst();
			long next = (remaining < burst) ? this.formula.wait(settled, this.paces, quota, now, remaining + 1) : 0;
			long retry = (granted >= least) ? 0
					: (least > burst) ? LimitStatus.NEVER : this.formula.wait(settled, this.paces, quota, now, least);
			long reset = this.formula.resetAfter(settled, this.paces, quota, now);
			statuses.add(new LimitStatus(this.limit, quotas.get(quota), remaining, reset, retry, next));
		}
	}

}
