package dev.ratelimit.counter;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.Work;
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

	private final boolean settles;

	private final int work;

	private final @Nullable CounterSpec whole;

	/**
	 * By number of parts, made on first use: few limits have parts, but counters of one
	 * limit may have different numbers of them.
	 */
	private final Map<Integer, CounterSpec[]> parts = new ConcurrentHashMap<>(0);

	private volatile Numbers numbers;

	public CounterSpec(Algorithm algorithm, Limit limit) {
		this(algorithm, limit, Enforcement.STRICT, new LiveWindows());
	}

	/**
	 * @param enforcement where permits are taken, unless the limit says it
	 * @param live the windows of all callers that share the counters
	 */
	public CounterSpec(Algorithm algorithm, Limit limit, Enforcement enforcement, LiveWindows live) {
		this(algorithm, limit, enforcement, live, false);
	}

	/**
	 * Creates the spec of a limit.
	 * @param settles whether costs are corrected after requests
	 */
	public CounterSpec(Algorithm algorithm, Limit limit, Enforcement enforcement, LiveWindows live, boolean settles) {
		this(algorithm, limit, enforcement, live, settles, null);
	}

	private CounterSpec(Algorithm algorithm, Limit limit, Enforcement enforcement, LiveWindows live, boolean settles,
			@Nullable CounterSpec whole) {
		this.whole = whole;
		this.settles = settles;
		this.enforcement = (limit.enforcement() != null) ? limit.enforcement() : enforcement;
		this.algorithm = algorithm;
		this.formula = Formula.of(algorithm);
		this.limit = limit;
		this.work = Work.of(algorithm, limit.quotas().size());
		this.live = live;
		this.numbers = new Numbers(algorithm, limit.quotas(), live.current());
		this.largestCost = limit.quotas().stream().mapToLong(Quota::burst).min().orElseThrow();
	}

	/**
	 * The spec of the same counters under quotas that only some callers have.
	 * @param quotas quotas to count by
	 * @param also quotas that other callers of these counters may have
	 */
	public CounterSpec with(List<Quota> quotas, List<Quota> also) {
		return new CounterSpec(this.algorithm, this.limit.withQuotas(quotas), this.enforcement, this.live.with(also),
				this.settles);
	}

	/**
	 * The spec of a limit that is kept elsewhere for these counters, by another
	 * algorithm.
	 * @param fills largest debt of a counter, in multiples of its fill time
	 */
	public CounterSpec with(Algorithm algorithm, Limit limit, double fills) {
		return new CounterSpec(algorithm, limit, Enforcement.STRICT, this.live.with(limit.quotas()).longer(fills));
	}

	/**
	 * Specs of the same counters with one window each, under the largest quota that a
	 * caller has in it: what it has used shows in no smaller one.
	 * @return the longest window first
	 */
	public List<CounterSpec> byWindow() {
		LiveWindows all = this.live.with(this.limit.quotas());
		return all.current()
			.stream()
			.sorted(Comparator.comparing(LiveWindow::length).reversed())
			.map((window) -> new Limit(this.limit.name(), this.limit.by(), List.of(window.largest())))
			.map((limit) -> new CounterSpec(this.algorithm, limit, Enforcement.STRICT, all))
			.toList();
	}

	public Algorithm algorithm() {
		return this.algorithm;
	}

	public Limit limit() {
		return this.limit;
	}

	/**
	 * The spec of one part of each counter: its share of every quota. Always the same
	 * object for the same arguments.
	 * @param part index of the part, from 0
	 * @param parts number of parts
	 */
	public CounterSpec part(int part, int parts) {
		CounterSpec[] known = this.parts.get(parts);
		return ((known != null) ? known : this.parts.computeIfAbsent(parts, this::divide))[part];
	}

	private CounterSpec[] divide(int parts) {
		CounterSpec[] divided = new CounterSpec[parts];
		for (int part = 0; part < parts; part++) {
			divided[part] = new CounterSpec(this.algorithm, this.limit.part(part, parts), this.enforcement, this.live,
					this.settles, this);
		}
		return divided;
	}

	/**
	 * The spec of the whole counter, {@code null} if this is not the spec of a part.
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

	public Enforcement enforcement() {
		return this.enforcement;
	}

	/**
	 * Whether costs are corrected after requests. A refusal then says little about the
	 * next moment.
	 */
	public boolean settles() {
		return this.settles;
	}

	/**
	 * Work to take permits from a counter or to read it.
	 */
	public int work() {
		return this.work;
	}

	/**
	 * The formula of the algorithm, for stores.
	 */
	public Formula formula() {
		return this.formula;
	}

	/**
	 * One per quota, in their order; not to be changed.
	 */
	public Pace[] paces() {
		return current().paces;
	}

	/**
	 * The numbers for a script, as little-endian doubles; not to be changed.
	 */
	public byte[] numbers() {
		return current().script;
	}

	/**
	 * Microseconds after its last change for which a state matters.
	 */
	public long lifetimeMicros() {
		return current().lifetimeMicros;
	}

	private Numbers current() {
		Numbers numbers = this.numbers;
		List<LiveWindow> live = this.live.current();
		if (numbers.live != live) {
			numbers = new Numbers(this.algorithm, this.limit.quotas(), live);
			this.numbers = numbers;
		}
		return numbers;
	}

	/**
	 * Writes how the counters count, without the names of limit and dimensions.
	 */
	public void write(DataOutput out) throws IOException {
		List<Quota> quotas = this.limit.quotas();
		out.writeByte(quotas.size());
		for (Quota quota : quotas) {
			out.writeUTF(quota.toString());
		}
		List<LiveWindow> live = this.live.current();
		out.writeByte(live.size());
		for (LiveWindow window : live) {
			out.writeLong(window.micros());
			out.writeLong(window.longestFill());
			out.writeLong(window.mostPermits());
		}
	}

	/**
	 * Reads a spec that {@link #write} wrote.
	 */
	public static CounterSpec read(Algorithm algorithm, DataInput in) throws IOException {
		List<Quota> quotas = new ArrayList<>();
		for (int left = in.readUnsignedByte(); left > 0; left--) {
			quotas.add(Quota.parse(in.readUTF()));
		}
		List<LiveWindow> windows = new ArrayList<>();
		for (int left = in.readUnsignedByte(); left > 0; left--) {
			windows.add(new LiveWindow(in.readLong(), in.readLong(), in.readLong()));
		}
		LiveWindows live = new LiveWindows();
		live.set(windows);
		return new CounterSpec(algorithm, new Limit("receipt", List.of(), quotas), Enforcement.STRICT, live, true);
	}

	/**
	 * Adds the status of each quota.
	 * @param state as stored, settled or not
	 * @param now when it was read, on the store's clock
	 * @param least permits that the caller would have accepted
	 * @param granted permits that the caller got
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
	 * Numbers derived from the quotas and from other quotas on the same counters.
	 */
	private static final class Numbers {

		private final List<LiveWindow> live;

		private final Pace[] paces;

		private final byte[] script;

		private final long lifetimeMicros;

		Numbers(Algorithm algorithm, List<Quota> quotas, List<LiveWindow> live) {
			this.live = live;
			this.paces = Pace.of(quotas, live);
			this.lifetimeMicros = Pace.lifetimeMicros(this.paces);
			double[] numbers = Pace.numbers(algorithm, this.paces);
			ByteBuffer script = ByteBuffer.allocate(numbers.length * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
			for (double number : numbers) {
				script.putDouble(number);
			}
			this.script = script.array();
		}

	}

}
