package dev.ratelimit.counter;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.caller.Epoch;
import dev.ratelimit.caller.Epochs;

/**
 * One limit for one combination of dimension values, wherever its state is kept.
 *
 * <p>
 * Two counters are equal if they have the same limit and values. The key, a digest of
 * these, is made on first use: decisions in-process never need it.
 *
 * <p>
 * A counter may be kept in parts, each of which is a counter with its share of the
 * quotas. The first part has the key of the whole counter. Where values are hashed, each
 * {@link Epochs epoch} has another counter.
 */
public final class Counter {

	private static final int PART_HASH = 0x9E3779B9;

	private final CounterSpec spec;

	private final @Nullable CounterKeys keys;

	private final String policy;

	/**
	 * The value of a limit with one dimension; most limits need no list. Long values are
	 * shortened, so that what bounds the number of counters also bounds their size.
	 */
	private final @Nullable String value;

	/** The values of any other limit. */
	private final List<String> values;

	private final @Nullable Epoch epoch;

	private final byte part;

	/** One more than the slot; 0 until it is computed, also for threads that race. */
	private short slot;

	private final int hash;

	private @Nullable String key;

	/**
	 * Creates a counter of the current epoch.
	 * @param spec how it counts
	 * @param keys makes its key
	 * @param policy id of its policy
	 * @param values a value for each dimension of its limit
	 */
	public Counter(CounterSpec spec, CounterKeys keys, String policy, List<String> values) {
		this(spec, keys, policy, values, keys.epoch(spec.limit(), values));
	}

	Counter(CounterSpec spec, CounterKeys keys, String policy, List<String> values, @Nullable Epoch epoch) {
		this(spec, keys, policy, (values.size() == 1) ? values.get(0) : null, (values.size() == 1) ? List.of() : values,
				epoch, 0, null);
	}

	Counter(CounterSpec spec, CounterKeys keys, String policy, String value, @Nullable Epoch epoch) {
		this(spec, keys, policy, value, List.of(), epoch, 0, null);
	}

	/**
	 * Creates a counter with a given key.
	 */
	public Counter(CounterSpec spec, String key) {
		this(spec, null, key, null, List.of(), null, 0, key);
	}

	private Counter(CounterSpec spec, @Nullable CounterKeys keys, String policy, @Nullable String value,
			List<String> values, @Nullable Epoch epoch, int part, @Nullable String key) {
		this.spec = spec;
		this.keys = keys;
		this.policy = policy;
		this.value = (value != null) ? CounterKeys.shortened(value) : null;
		this.values = CounterKeys.shortened(values);
		this.epoch = epoch;
		this.part = (byte) part;
		this.key = key;
		// Instances compare hash codes: a single value has that of a list of one.
		int caller = (this.value != null) ? 31 + this.value.hashCode() : this.values.hashCode();
		this.hash = ((31 * policy.hashCode() + spec.limit().name().hashCode()) * 31 + caller)
				+ ((epoch != null) ? epoch.hashCode() : 0) + PART_HASH * part;
	}

	public CounterSpec spec() {
		return this.spec;
	}

	public String policy() {
		return this.policy;
	}

	/**
	 * Its key, which contains no value that a caller controls.
	 */
	public String key() {
		String key = this.key;
		if (key == null) {
			key = Objects.requireNonNull(this.keys)
				.key(this.policy, this.spec.algorithm(), this.spec.limit(),
						(this.value != null) ? List.of(this.value) : this.values, this.epoch, this.part);
			this.key = key;
		}
		return key;
	}

	/**
	 * The slot of its key in a cluster.
	 */
	public int slot() {
		short slot = this.slot;
		if (slot == 0) {
			slot = (short) (1 + SlotTags.ofKey(key()));
			this.slot = slot;
		}
		return slot - 1;
	}

	/**
	 * The same counter under another spec.
	 */
	public Counter with(CounterSpec spec) {
		return new Counter(spec, this.keys, this.policy, this.value, this.values, this.epoch, this.part, this.key);
	}

	/**
	 * One part of this whole counter.
	 * @param part index of the part, from 0
	 * @param parts number of parts
	 */
	public Counter part(int part, int parts) {
		return new Counter(this.spec.part(part, parts), this.keys, this.policy, this.value, this.values, this.epoch,
				part, (part == 0) ? this.key : null);
	}

	/**
	 * The counter that this is a part of, or this counter itself.
	 */
	public Counter whole() {
		CounterSpec whole = this.spec.whole();
		return (whole == null) ? this : new Counter(whole, this.keys, this.policy, this.value, this.values, this.epoch,
				0, (this.part == 0) ? this.key : null);
	}

	/**
	 * The hash code of the counter that this is a part of, without making it.
	 */
	public int wholeHash() {
		return this.hash - PART_HASH * this.part;
	}

	/**
	 * Whether its epoch is over: it is charged together with the counter of the current
	 * epoch.
	 */
	boolean isOld() {
		return this.epoch != null && this.epoch.isOver();
	}

	/**
	 * The same counter in the previous epoch, {@code null} if no value of it is hashed or
	 * the epoch has lasted longer than this many microseconds.
	 */
	public @Nullable Counter before(long micros) {
		Epoch previous = (this.keys != null && this.epoch != null && this.keys.hasJustTurned(micros))
				? this.epoch.previous() : null;
		return (previous == null) ? null
				: new Counter(this.spec, this.keys, this.policy, this.value, this.values, previous, this.part, null);
	}

	/** Whether this is the whole counter of a limit with one dimension. */
	boolean is(CounterSpec spec, String policy, String value, @Nullable Epoch epoch) {
		return this.spec == spec && value.equals(this.value) && policy.equals(this.policy)
				&& Objects.equals(this.epoch, epoch);
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other
				|| (other instanceof Counter counter && this.hash == counter.hash && this.part == counter.part
						&& this.policy.equals(counter.policy) && Objects.equals(this.value, counter.value)
						&& this.values.equals(counter.values) && (this.spec == counter.spec || countsLike(counter.spec))
						&& Objects.equals(this.epoch, counter.epoch));
	}

	private boolean countsLike(CounterSpec other) {
		return this.spec.algorithm() == other.algorithm() && this.spec.limit().name().equals(other.limit().name())
				&& this.spec.limit().by().equals(other.limit().by());
	}

	@Override
	public int hashCode() {
		return this.hash;
	}

	/** Without the values, which may be personal data. */
	@Override
	public String toString() {
		return "counter of limit '" + this.spec.limit().name() + "'";
	}

}
