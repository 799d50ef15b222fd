package dev.ratelimit.counter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.algorithm.Formula;
import dev.ratelimit.algorithm.LiveWindow;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.algorithm.Pace;

/**
 * How the counters of one limit count, or one part of each of them. Made once per limit
 * of a policy, shared by all its counters.
 */
public final class CounterSpec {

	private final Algorithm algorithm;

	private final Formula formula;

	private final Limit limit;

	private final LiveWindows live;

	private final long largestCost;

	private final Enforcement enforcement;

	private final @Nullable CounterSpec whole;

	/**
	 * By how many there are, made when somebody first asks: few limits have any, but
	 * counters of one limit may be in different numbers of parts.
	 */
	private final Map<Integer, CounterSpec[]> parts = new ConcurrentHashMap<>(0);

	private volatile Numbers numbers;

	public CounterSpec(Algorithm algorithm, Limit limit) {
		this(algorithm, limit, Enforcement.STRICT);
	}

	/**
	 * Works out how a limit counts whose callers all have these quotas.
	 * @param enforcement where permits are taken, unless the limit says it itself
	 */
	public CounterSpec(Algorithm algorithm, Limit limit, Enforcement enforcement) {
		this(algorithm, limit, enforcement, new LiveWindows());
	}

	/**
	 * Works out how a limit counts.
	 * @param enforcement where permits are taken, unless the limit says it itself
	 * @param live the windows of all callers that share the counters
	 */
	public CounterSpec(Algorithm algorithm, Limit limit, Enforcement enforcement, LiveWindows live) {
		this(algorithm, limit, enforcement, live, null);
	}

	private CounterSpec(Algorithm algorithm, Limit limit, Enforcement enforcement, LiveWindows live,
			@Nullable CounterSpec whole) {
		this.whole = whole;
		this.enforcement = (limit.enforcement() != null) ? limit.enforcement() : enforcement;
		this.algorithm = algorithm;
		this.formula = Formula.of(algorithm);
		this.limit = limit;
		this.live = live;
		this.numbers = Numbers.of(algorithm, limit.quotas(), live.current());
		this.largestCost = limit.quotas().stream().mapToLong(Quota::burst).min().orElseThrow();
	}

	/**
	 * How the same counters count under other quotas.
	 */
	public CounterSpec with(List<Quota> quotas) {
		return new CounterSpec(this.algorithm, this.limit.withQuotas(quotas), this.enforcement, this.live);
	}

	/**
	 * How the same counters count under other quotas, of which only some counters have.
	 * @param quotas to count by
	 * @param also what other callers of these counters may have
	 */
	public CounterSpec with(List<Quota> quotas, List<Quota> also) {
		return new CounterSpec(this.algorithm, this.limit.withQuotas(quotas), this.enforcement, this.live.with(also));
	}

	/**
	 * How a limit counts that is kept elsewhere for these counters, by another algorithm.
	 */
	public CounterSpec with(Algorithm algorithm, Limit limit) {
		return new CounterSpec(algorithm, limit, Enforcement.STRICT, this.live);
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
		CounterSpec[] known = this.parts.get(parts);
		return ((known != null) ? known : this.parts.computeIfAbsent(parts, this::divide))[part];
	}

	private CounterSpec[] divide(int parts) {
		CounterSpec[] divided = new CounterSpec[parts];
		for (int part = 0; part < parts; part++) {
			divided[part] = new CounterSpec(this.algorithm, this.limit.part(part, parts), this.enforcement, this.live,
					this);
		}
		return divided;
	}

	/**
	 * How the counter counts that this is a part of, {@code null} if it is a whole one.
	 */
	public @Nullable CounterSpec whole() {
		return this.whole;
	}

	/**
	 * Whether its counters are shared by the callers that have these windows.
	 */
	public boolean shares(LiveWindows live) {
		return this.live == live;
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
		return current().paces();
	}

	/**
	 * What a script has to know, as little-endian doubles; not to be changed.
	 */
	public byte[] numbers() {
		return current().script();
	}

	/**
	 * How long a state can matter after its last change.
	 */
	public long lifetimeMicros() {
		return current().lifetimeMicros();
	}

	private Numbers current() {
		Numbers numbers = this.numbers;
		List<LiveWindow> live = this.live.current();
		if (numbers.live() != live) {
			numbers = Numbers.of(this.algorithm, this.limit.quotas(), live);
			this.numbers = numbers;
		}
		return numbers;
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
		Pace[] paces = paces();
		long[] settled = this.formula.settle(state, paces, now);
		List<Quota> quotas = this.limit.quotas();
		for (int quota = 0; quota < paces.length; quota++) {
			long remaining = this.formula.remaining(settled, paces, quota, now);
			long burst = quotas.get(quota).burst();
			long next = (remaining < burst) ? this.formula.wait(settled, paces, quota, now, remaining + 1) : 0;
			long retry = (granted >= least) ? 0
					: (least > burst) ? LimitStatus.NEVER : this.formula.wait(settled, paces, quota, now, least);
			long reset = this.formula.resetAfter(settled, paces, quota, now);
			statuses.add(new LimitStatus(this.limit, quotas.get(quota), remaining, reset, retry, next));
		}
	}

	/**
	 * What follows from the quotas and from those of others on the same counters.
	 */
	private record Numbers(List<LiveWindow> live, Pace[] paces, byte[] script, long lifetimeMicros) {

		static Numbers of(Algorithm algorithm, List<Quota> quotas, List<LiveWindow> live) {
			Pace[] paces = Pace.of(quotas, live);
			double[] numbers = Pace.numbers(algorithm, paces);
			ByteBuffer script = ByteBuffer.allocate(numbers.length * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
			for (double number : numbers) {
				script.putDouble(number);
			}
			return new Numbers(live, paces, script.array(), Pace.lifetimeMicros(paces));
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return this == other;
		}

		@Override
		public int hashCode() {
			return System.identityHashCode(this);
		}

		@Override
		public String toString() {
			return Arrays.toString(this.paces);
		}

	}

}
